"""The data of the benchmark: the paper's sets where they are at hand, synthetic ones of the same
shape where not, written once to a scratch folder from which all partners load them."""
import os

import numpy as np

# Files under RLAR_DATA_DIR: name -> file, samples per class (None: all), shape (n, d, classes).
REAL = {
    "binalpha": ("binalpha.mat", None, (1404, 320, 36)),
    "coil20": ("COIL20.mat", None, (1440, 1024, 20)),
    "yaleb": ("YaleB_32x32.mat", None, (2414, 1024, 38)),
    "ar": ("AR_32x32.mat", 8, (800, 1024, 100)),
}


def unit_length(samples):
    length = np.linalg.norm(samples, axis=1, keepdims=True)
    return samples / np.where(length > 0, length, 1.0)


def synthetic(n, d, c, seed=1, apart=1.0):
    """Gaussian classes of nearly equal size around means of their own, `apart` their spread. Any
    first n' samples hold the classes in equal shares too."""
    rng = np.random.default_rng(seed)
    label = np.arange(n) % c
    samples = rng.standard_normal((n, d))
    samples += apart * rng.standard_normal((c, d))[label]
    return samples, label + 1


def first_of_each(label, count):
    """The places of the first `count` samples of each class, in their order."""
    places = [np.flatnonzero(label == name)[:count] for name in np.unique(label)]
    return np.sort(np.concatenate(places))


def real(name):
    """(samples of unit length, label, note). Synthetic where the file is missing."""
    file, per_class, shape = REAL[name]
    path = os.path.join(os.environ.get("RLAR_DATA_DIR", ""), file)
    if not os.path.exists(path):
        samples, label = synthetic(*shape)
        return unit_length(samples), label, "%s is not here: synthetic of its shape" % file
    from scipy.io import loadmat  # only here, and slow to come
    content = loadmat(path)
    samples, label = content["fea"].astype(float), content["gnd"].ravel().astype(int)
    if per_class:
        keep = first_of_each(label, per_class)
        samples, label = samples[keep], label[keep]
    return unit_length(samples), label, ""


class Store:
    """Writes data to files of one folder, which goes with its owner."""

    def __init__(self, folder):
        self.folder = folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def table(self, name, samples, label):
        """An .npy with the label as the last column; its path."""
        table = np.empty((samples.shape[0], samples.shape[1] + 1))
        table[:, :-1] = samples
        table[:, -1] = label
        np.save(self.path(name + ".npy"), table)
        return self.path(name + ".npy")

    def forget(self, name):
        if os.path.exists(self.path(name + ".npy")):
            os.unlink(self.path(name + ".npy"))

    def csv(self, name, samples, label):
        path = self.path(name + ".csv")
        with open(path, "w", encoding="ascii") as file:
            for row, of in zip(samples, label):
                file.write(",".join(["%.8g" % value for value in row]) + ",%d\n" % of)
        return path

    def libsvm(self, name, samples, label):
        """Zeros are left out."""
        path = self.path(name + ".svm")
        with open(path, "w", encoding="ascii") as file:
            for row, of in zip(samples, label):
                places = np.flatnonzero(row)
                file.write("%d " % of + " ".join(
                    ["%d:%.8g" % (place + 1, row[place]) for place in places]) + "\n")
        return path
