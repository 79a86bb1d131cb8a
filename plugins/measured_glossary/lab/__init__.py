"""The laboratory: experiments declared, compiled, run, recorded and checked."""
