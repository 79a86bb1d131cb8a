from measured_glossary.lab.experiment import Experiment

experiment = Experiment(title="Copying"
