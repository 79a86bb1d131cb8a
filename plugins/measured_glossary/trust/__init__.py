"""Who signed what: the registry of people, statements, signatures and the sign-off.

Comes in: the bytes of an entry, its statements and the registry. Goes out: a `Signoff`. Must not
know what a verdict is, nor how a page looks.
"""
