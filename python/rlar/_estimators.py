"""One estimator for each method. Written by tests/python/make_estimators.py: change that, not this."""
from __future__ import annotations

from ._base import LinearMapEstimator


class RLAR(LinearMapEstimator):
    """Robust Locality-Aware Regression.

    L2,1 regression on targets that are moved to keep a margin of 1, with a graph of neighbours within the
    classes that is learned together with the map, and row-sparse W: feature selection and extraction at once.

    Parameters
    ----------
    alpha : float in [1e-12, 1e+12], default=0.1
        Weight of the row-sparsity of W: larger keeps fewer features.
    beta : float in [0, 1e+12], default=0.1
        Weight of the locality term: larger pulls neighbours of a class together.
    k : int in [0, 2147483647], default=0
        Neighbours within the class; 0: 7 when every class has more than 10 samples, else 3.
    iters : int in [1, 1000000], default=30
        Iterations; minimise: at most so many rounds of descent.
    eps : float in [0, 1000], default=0.0
        Smoothing of the norms, which ends here (anneal: at 1e-4 at the least); 0: 1 for minimise, which
        classifies best, and 1e-8 for the others; up to 0.001 the paper's objective is meant, and less than
        1e-15 is taken as that.
    solver : {"paper", "anneal", "minimise"}, default="minimise"
        paper: Algorithm 1 with fixed eps; anneal: eps shrinks, reaches lower objectives; minimise: descends
        to the minimum of the objective.
    tol : float in [0, 1], default=0.0
        Stop when the smoothed objective falls by less than this share; 0: never stop early, and for minimise
        5e-4 (5e-6 with up to 20000 numbers in the data).
    search : {"auto", "exact", "local"}, default="auto"
        Neighbours by comparing all pairs of a class or by local search, nearly the same and faster in large
        classes; auto: local where a class has more than 3000 samples, first graph 10000.
    scale : str, default="zscore,rms"
        Scaling learned in fit: "none", "unit" (each sample to length 1), "minmax", "zscore", "rms" (all
        samples by one number), or a chain of them.
    classifier : str, default="1nn"
        How predict decides: "1nn", "knn", "centroid", "argmax" (the largest output), or the first three with
        "-cosine" behind: on outputs of length 1.
    n_neighbors : int, default=5
        For the classifier "knn".
    n_jobs : int or None, default=None
        Threads; None: 1 unless joblib says otherwise, -1: one per processor. The results do not depend on it.
    max_memory : int or None, default=None
        Bytes that a fit may hold beside X; None: no limit, and for sparse X the memory of the machine.
    verbose : int, default=0
        1: print a line for each iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    components_ : ndarray of shape (n_outputs, n_features)
        The map W, for scaled samples; a copy.
    intercept_ : ndarray of shape (n_outputs,)
        The offset b.
    feature_scores_ : ndarray of shape (n_features,)
        Euclidean norm of the feature's row of W; rows near 0 are not used.
    feature_importances_ : ndarray of shape (n_features,)
        The same, under the name that SelectFromModel looks for.
    objective_ : float
        The objective at the end; nan where the method has none, absent after load.
    n_iter_ : int
        Iterations; 0: solved in closed form. Absent after load.
    trace_ : structured ndarray of shape (n_iter_,)
        After each iteration "objective", "smoothed" (with eps in the norms), the terms "regression",
        "sparsity" and "locality", "eps" and the "seconds" so far; 0 or nan where the method has none. Absent
        after load.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    References
    ----------
    L. Hu and W. Zhang, Robust Locality-Aware Regression for Labeled Data Classification, arXiv 2006.08292,
    2020.
    """

    _method = "rlar"
    _method_params = ("alpha", "beta", "k", "iters", "eps", "solver", "tol", "search")

    def __init__(
        self,
        *,
        alpha: float = 0.1,
        beta: float = 0.1,
        k: int = 0,
        iters: int = 30,
        eps: float = 0.0,
        solver: str = "minimise",
        tol: float = 0.0,
        search: str = "auto",
        scale: str = "zscore,rms",
        classifier: str = "1nn",
        n_neighbors: int = 5,
        n_jobs: int | None = None,
        max_memory: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.k = k
        self.iters = iters
        self.eps = eps
        self.solver = solver
        self.tol = tol
        self.search = search
        self.scale = scale
        self.classifier = classifier
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose


class RR(LinearMapEstimator):
    """Ridge Regression.

    Least squares on 0/1 class targets with a penalty on the squared size of W and a free offset. The simplest
    regression method; works for any number of features.

    Parameters
    ----------
    lam : float in [1e-12, 1e+12], default=1.0
        Weight of the squared size of W: larger gives a smoother map.
    scale : str, default="zscore,rms"
        Scaling learned in fit: "none", "unit" (each sample to length 1), "minmax", "zscore", "rms" (all
        samples by one number), or a chain of them.
    classifier : str, default="1nn"
        How predict decides: "1nn", "knn", "centroid", "argmax" (the largest output), or the first three with
        "-cosine" behind: on outputs of length 1.
    n_neighbors : int, default=5
        For the classifier "knn".
    n_jobs : int or None, default=None
        Threads; None: 1 unless joblib says otherwise, -1: one per processor. The results do not depend on it.
    max_memory : int or None, default=None
        Bytes that a fit may hold beside X; None: no limit, and for sparse X the memory of the machine.
    verbose : int, default=0
        1: print a line for each iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    components_ : ndarray of shape (n_outputs, n_features)
        The map W, for scaled samples; a copy.
    intercept_ : ndarray of shape (n_outputs,)
        The offset b.
    feature_scores_ : ndarray of shape (n_features,)
        Euclidean norm of the feature's row of W; no row is exactly 0.
    feature_importances_ : ndarray of shape (n_features,)
        The same, under the name that SelectFromModel looks for.
    objective_ : float
        The objective at the end; nan where the method has none, absent after load.
    n_iter_ : int
        Iterations; 0: solved in closed form. Absent after load.
    trace_ : structured ndarray of shape (n_iter_,)
        After each iteration "objective", "smoothed" (with eps in the norms), the terms "regression",
        "sparsity" and "locality", "eps" and the "seconds" so far; 0 or nan where the method has none. Absent
        after load.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    References
    ----------
    A. E. Hoerl and R. W. Kennard, Ridge Regression: Biased Estimation for Nonorthogonal Problems,
    Technometrics 12(1), 1970.
    """

    _method = "rr"
    _method_params = ("lam",)

    def __init__(
        self,
        *,
        lam: float = 1.0,
        scale: str = "zscore,rms",
        classifier: str = "1nn",
        n_neighbors: int = 5,
        n_jobs: int | None = None,
        max_memory: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.lam = lam
        self.scale = scale
        self.classifier = classifier
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose


class LDA(LinearMapEstimator):
    """Linear Discriminant Analysis.

    The directions along which classes are apart most, measured by the scatter between classes against that
    within them; at most one less than classes. With fewer samples than features every class collapses to a
    point (null-space LDA); worst when there are about as many samples as features.

    Parameters
    ----------
    length : {"unit", "st", "sw", "orth"}, default="unit"
        Length of the columns of W: 1; such that the total or the within-class scatter of the outputs is I; or
        orthonormal columns.
    ridge : float in [0, 1e+12], default=1.0
        Added to the diagonal of the total scatter.
    fisherface : int in [0, 1], default=0
        1: work in the n - c leading principal directions (Fisherfaces).
    scale : str, default="zscore,rms"
        Scaling learned in fit: "none", "unit" (each sample to length 1), "minmax", "zscore", "rms" (all
        samples by one number), or a chain of them.
    classifier : str, default="1nn"
        How predict decides: "1nn", "knn", "centroid", or the first three with "-cosine" behind: on outputs of
        length 1.
    n_neighbors : int, default=5
        For the classifier "knn".
    n_jobs : int or None, default=None
        Threads; None: 1 unless joblib says otherwise, -1: one per processor. The results do not depend on it.
    max_memory : int or None, default=None
        Bytes that a fit may hold beside X; None: no limit, and for sparse X the memory of the machine.
    verbose : int, default=0
        1: print a line for each iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    components_ : ndarray of shape (n_outputs, n_features)
        The map W, for scaled samples; a copy.
    intercept_ : ndarray of shape (n_outputs,)
        The offset b.
    feature_scores_ : ndarray of shape (n_features,)
        Euclidean norm of the feature's row of W; comparable only between features of the same unit.
    feature_importances_ : ndarray of shape (n_features,)
        The same, under the name that SelectFromModel looks for.
    objective_ : float
        The objective at the end; nan where the method has none, absent after load.
    n_iter_ : int
        Iterations; 0: solved in closed form. Absent after load.
    trace_ : structured ndarray of shape (n_iter_,)
        After each iteration "objective", "smoothed" (with eps in the norms), the terms "regression",
        "sparsity" and "locality", "eps" and the "seconds" so far; 0 or nan where the method has none. Absent
        after load.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    References
    ----------
    R. A. Fisher, The Use of Multiple Measurements in Taxonomic Problems, Annals of Eugenics 7(2), 1936.
    """

    _method = "lda"
    _method_params = ("length", "ridge", "fisherface")

    def __init__(
        self,
        *,
        length: str = "unit",
        ridge: float = 1.0,
        fisherface: int = 0,
        scale: str = "zscore,rms",
        classifier: str = "1nn",
        n_neighbors: int = 5,
        n_jobs: int | None = None,
        max_memory: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.length = length
        self.ridge = ridge
        self.fisherface = fisherface
        self.scale = scale
        self.classifier = classifier
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose


class MMC(LinearMapEstimator):
    """Maximum Margin Criterion.

    Orthonormal directions that maximise the scatter between classes minus the scatter within them. Nothing is
    inverted, so few samples are no problem; features with a large variance dominate, so scale the data.

    Parameters
    ----------
    theta : float in [0, 1e+12], default=1.0
        Weight of the scatter within classes against that between them.
    scale : str, default="zscore,rms"
        Scaling learned in fit: "none", "unit" (each sample to length 1), "minmax", "zscore", "rms" (all
        samples by one number), or a chain of them.
    classifier : str, default="1nn"
        How predict decides: "1nn", "knn", "centroid", or the first three with "-cosine" behind: on outputs of
        length 1.
    n_neighbors : int, default=5
        For the classifier "knn".
    n_jobs : int or None, default=None
        Threads; None: 1 unless joblib says otherwise, -1: one per processor. The results do not depend on it.
    max_memory : int or None, default=None
        Bytes that a fit may hold beside X; None: no limit, and for sparse X the memory of the machine.
    verbose : int, default=0
        1: print a line for each iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    components_ : ndarray of shape (n_outputs, n_features)
        The map W, for scaled samples; a copy.
    intercept_ : ndarray of shape (n_outputs,)
        The offset b.
    feature_scores_ : ndarray of shape (n_features,)
        Euclidean norm of the feature's row of the orthonormal W, between 0 and 1; depends on the units of the
        features.
    feature_importances_ : ndarray of shape (n_features,)
        The same, under the name that SelectFromModel looks for.
    objective_ : float
        The objective at the end; nan where the method has none, absent after load.
    n_iter_ : int
        Iterations; 0: solved in closed form. Absent after load.
    trace_ : structured ndarray of shape (n_iter_,)
        After each iteration "objective", "smoothed" (with eps in the norms), the terms "regression",
        "sparsity" and "locality", "eps" and the "seconds" so far; 0 or nan where the method has none. Absent
        after load.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    References
    ----------
    H. Li, T. Jiang and K. Zhang, Efficient and Robust Feature Extraction by Maximum Margin Criterion, IEEE
    Transactions on Neural Networks 17(1), 2006.
    """

    _method = "mmc"
    _method_params = ("theta",)

    def __init__(
        self,
        *,
        theta: float = 1.0,
        scale: str = "zscore,rms",
        classifier: str = "1nn",
        n_neighbors: int = 5,
        n_jobs: int | None = None,
        max_memory: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.theta = theta
        self.scale = scale
        self.classifier = classifier
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose


class LSDA(LinearMapEstimator):
    """Locality Sensitive Discriminant Analysis.

    Directions that spread neighbours of different classes and keep neighbours of one class together. With the
    complete graph (k = 0) and classes of one size its first c - 1 outputs span those of LDA.

    Parameters
    ----------
    k : int in [0, 2147483647], default=0
        Nearest neighbours among all samples; 0: all of them (then near LDA).
    alpha : float in [0, 1], default=0.1
        Weight of the spread between neighbours of different classes against the closeness within.
    ties : {"variance", "drop"}, default="drop"
        Where equal eigenvalues reach beyond the c-th: fill up with their directions of largest variance, or
        leave them out.
    ridge : float in [0, 1e+12], default=0.1
        Weight of the squared length of a direction in the constraint, as a share of the mean degree of a
        sample within its class; 0: none, the author's value: 0.1.
    scale : str, default="zscore,rms"
        Scaling learned in fit: "none", "unit" (each sample to length 1), "minmax", "zscore", "rms" (all
        samples by one number), or a chain of them.
    classifier : str, default="1nn"
        How predict decides: "1nn", "knn", "centroid", or the first three with "-cosine" behind: on outputs of
        length 1.
    n_neighbors : int, default=5
        For the classifier "knn".
    n_jobs : int or None, default=None
        Threads; None: 1 unless joblib says otherwise, -1: one per processor. The results do not depend on it.
    max_memory : int or None, default=None
        Bytes that a fit may hold beside X; None: no limit, and for sparse X the memory of the machine.
    verbose : int, default=0
        1: print a line for each iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    components_ : ndarray of shape (n_outputs, n_features)
        The map W, for scaled samples; a copy.
    intercept_ : ndarray of shape (n_outputs,)
        The offset b.
    feature_scores_ : ndarray of shape (n_features,)
        Euclidean norm of the feature's row of W, whose columns have unit length; depends on the units of the
        features.
    feature_importances_ : ndarray of shape (n_features,)
        The same, under the name that SelectFromModel looks for.
    objective_ : float
        The objective at the end; nan where the method has none, absent after load.
    n_iter_ : int
        Iterations; 0: solved in closed form. Absent after load.
    trace_ : structured ndarray of shape (n_iter_,)
        After each iteration "objective", "smoothed" (with eps in the norms), the terms "regression",
        "sparsity" and "locality", "eps" and the "seconds" so far; 0 or nan where the method has none. Absent
        after load.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    References
    ----------
    D. Cai, X. He, K. Zhou, J. Han and H. Bao, Locality Sensitive Discriminant Analysis, Proceedings of the
    20th International Joint Conference on Artificial Intelligence (IJCAI), 2007.
    """

    _method = "lsda"
    _method_params = ("k", "alpha", "ties", "ridge")

    def __init__(
        self,
        *,
        k: int = 0,
        alpha: float = 0.1,
        ties: str = "drop",
        ridge: float = 0.1,
        scale: str = "zscore,rms",
        classifier: str = "1nn",
        n_neighbors: int = 5,
        n_jobs: int | None = None,
        max_memory: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.k = k
        self.alpha = alpha
        self.ties = ties
        self.ridge = ridge
        self.scale = scale
        self.classifier = classifier
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose


class LFDA(LinearMapEstimator):
    """Local Fisher Discriminant Analysis.

    Fisher's criterion with scatters in which pairs of one class count by how near they are, so that classes
    of several clusters keep their shape. More than c - 1 outputs; the ridge rho matters where samples are
    few.

    Parameters
    ----------
    k : int in [1, 2147483647], default=7
        The affinity of a sample is scaled by the distance to its k-th neighbour within the class.
    rho : float in [0, 1e+12], default=0.1
        Added to the diagonal of the local scatter within classes; 0: none where it can be inverted.
    metric : {"weighted", "plain", "orth"}, default="weighted"
        Scale of the outputs: weighted by their separation, plain, or orthonormal columns.
    scale : str, default="zscore,rms"
        Scaling learned in fit: "none", "unit" (each sample to length 1), "minmax", "zscore", "rms" (all
        samples by one number), or a chain of them.
    classifier : str, default="1nn"
        How predict decides: "1nn", "knn", "centroid", or the first three with "-cosine" behind: on outputs of
        length 1.
    n_neighbors : int, default=5
        For the classifier "knn".
    n_jobs : int or None, default=None
        Threads; None: 1 unless joblib says otherwise, -1: one per processor. The results do not depend on it.
    max_memory : int or None, default=None
        Bytes that a fit may hold beside X; None: no limit, and for sparse X the memory of the machine.
    verbose : int, default=0
        1: print a line for each iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    components_ : ndarray of shape (n_outputs, n_features)
        The map W, for scaled samples; a copy.
    intercept_ : ndarray of shape (n_outputs,)
        The offset b.
    feature_scores_ : ndarray of shape (n_features,)
        Euclidean norm of the feature's row of W, whose columns weigh directions by their separation (metric
        weighted); depends on the units of the features.
    feature_importances_ : ndarray of shape (n_features,)
        The same, under the name that SelectFromModel looks for.
    objective_ : float
        The objective at the end; nan where the method has none, absent after load.
    n_iter_ : int
        Iterations; 0: solved in closed form. Absent after load.
    trace_ : structured ndarray of shape (n_iter_,)
        After each iteration "objective", "smoothed" (with eps in the norms), the terms "regression",
        "sparsity" and "locality", "eps" and the "seconds" so far; 0 or nan where the method has none. Absent
        after load.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    References
    ----------
    M. Sugiyama, Dimensionality Reduction of Multimodal Labeled Data by Local Fisher Discriminant Analysis,
    Journal of Machine Learning Research 8, 1027-1061, 2007.
    """

    _method = "lfda"
    _method_params = ("k", "rho", "metric")

    def __init__(
        self,
        *,
        k: int = 7,
        rho: float = 0.1,
        metric: str = "weighted",
        scale: str = "zscore,rms",
        classifier: str = "1nn",
        n_neighbors: int = 5,
        n_jobs: int | None = None,
        max_memory: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.k = k
        self.rho = rho
        self.metric = metric
        self.scale = scale
        self.classifier = classifier
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose


class NMMP(LinearMapEstimator):
    """Neighborhood MinMax Projections.

    Orthonormal directions that maximise the summed distances to near samples of other classes over those to
    near samples of the same class. Only neighbours count, so classes may have any shape.

    Parameters
    ----------
    k : int in [0, 2147483647], default=0
        Neighbours within the class, and in the other classes; 0: 7 when every class has more than 10 samples,
        else 3.
    mutual : {"or", "and"}, default="or"
        Two samples are neighbours when either is near the other (or), or only when both are (and).
    iters : int in [1, 1000000], default=30
        Iterations at the most.
    scale : str, default="zscore,rms"
        Scaling learned in fit: "none", "unit" (each sample to length 1), "minmax", "zscore", "rms" (all
        samples by one number), or a chain of them.
    classifier : str, default="1nn"
        How predict decides: "1nn", "knn", "centroid", or the first three with "-cosine" behind: on outputs of
        length 1.
    n_neighbors : int, default=5
        For the classifier "knn".
    n_jobs : int or None, default=None
        Threads; None: 1 unless joblib says otherwise, -1: one per processor. The results do not depend on it.
    max_memory : int or None, default=None
        Bytes that a fit may hold beside X; None: no limit, and for sparse X the memory of the machine.
    verbose : int, default=0
        1: print a line for each iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    components_ : ndarray of shape (n_outputs, n_features)
        The map W, for scaled samples; a copy.
    intercept_ : ndarray of shape (n_outputs,)
        The offset b.
    feature_scores_ : ndarray of shape (n_features,)
        Euclidean norm of the feature's row of the orthonormal W, between 0 and 1; depends on the units of the
        features.
    feature_importances_ : ndarray of shape (n_features,)
        The same, under the name that SelectFromModel looks for.
    objective_ : float
        The objective at the end; nan where the method has none, absent after load.
    n_iter_ : int
        Iterations; 0: solved in closed form. Absent after load.
    trace_ : structured ndarray of shape (n_iter_,)
        After each iteration "objective", "smoothed" (with eps in the norms), the terms "regression",
        "sparsity" and "locality", "eps" and the "seconds" so far; 0 or nan where the method has none. Absent
        after load.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    References
    ----------
    F. Nie, S. Xiang and C. Zhang, Neighborhood MinMax Projections, Proceedings of the 20th International
    Joint Conference on Artificial Intelligence (IJCAI), 2007.
    """

    _method = "nmmp"
    _method_params = ("k", "mutual", "iters")

    def __init__(
        self,
        *,
        k: int = 0,
        mutual: str = "or",
        iters: int = 30,
        scale: str = "zscore,rms",
        classifier: str = "1nn",
        n_neighbors: int = 5,
        n_jobs: int | None = None,
        max_memory: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.k = k
        self.mutual = mutual
        self.iters = iters
        self.scale = scale
        self.classifier = classifier
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose


class SDA(LinearMapEstimator):
    """Sparse Discriminant Analysis.

    Optimal scoring: the classes are given numbers that a sparse linear function of the features can predict,
    by an elastic net, one direction after another. At most c - 1 outputs; directions in which nothing is left
    are left out.

    Parameters
    ----------
    ridge : float in [1e-09, 1e+12], default=1.0
        Weight of the squared length of a direction, n gamma in the notation of the method.
    tau : float in [0, 1], default=0.01
        Sparsity as a share of the value from which on nothing is left: larger keeps fewer features.
    iters : int in [1, 1000000], default=30
        Iterations per direction.
    tol : float in [0, 1], default=1e-06
        Stop when a direction moves by less than this share of its length, both squared.
    scale : str, default="zscore,rms"
        Scaling learned in fit: "none", "unit" (each sample to length 1), "minmax", "zscore", "rms" (all
        samples by one number), or a chain of them.
    classifier : str, default="1nn"
        How predict decides: "1nn", "knn", "centroid", or the first three with "-cosine" behind: on outputs of
        length 1.
    n_neighbors : int, default=5
        For the classifier "knn".
    n_jobs : int or None, default=None
        Threads; None: 1 unless joblib says otherwise, -1: one per processor. The results do not depend on it.
    max_memory : int or None, default=None
        Bytes that a fit may hold beside X; None: no limit, and for sparse X the memory of the machine.
    verbose : int, default=0
        1: print a line for each iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    components_ : ndarray of shape (n_outputs, n_features)
        The map W, for scaled samples; a copy.
    intercept_ : ndarray of shape (n_outputs,)
        The offset b.
    feature_scores_ : ndarray of shape (n_features,)
        Euclidean norm of the feature's row of W, the coefficients of all directions; exactly 0 where no
        direction uses the feature.
    feature_importances_ : ndarray of shape (n_features,)
        The same, under the name that SelectFromModel looks for.
    objective_ : float
        The objective at the end; nan where the method has none, absent after load.
    n_iter_ : int
        Iterations; 0: solved in closed form. Absent after load.
    trace_ : structured ndarray of shape (n_iter_,)
        After each iteration "objective", "smoothed" (with eps in the norms), the terms "regression",
        "sparsity" and "locality", "eps" and the "seconds" so far; 0 or nan where the method has none. Absent
        after load.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    References
    ----------
    L. Clemmensen, T. Hastie, D. Witten and B. Ersboll, Sparse Discriminant Analysis, Technometrics 53(4),
    2011.
    """

    _method = "sda"
    _method_params = ("ridge", "tau", "iters", "tol")

    def __init__(
        self,
        *,
        ridge: float = 1.0,
        tau: float = 0.01,
        iters: int = 30,
        tol: float = 1e-06,
        scale: str = "zscore,rms",
        classifier: str = "1nn",
        n_neighbors: int = 5,
        n_jobs: int | None = None,
        max_memory: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.ridge = ridge
        self.tau = tau
        self.iters = iters
        self.tol = tol
        self.scale = scale
        self.classifier = classifier
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose


class SULDA(LinearMapEstimator):
    """Sparse Uncorrelated Linear Discriminant Analysis.

    Of all maps that discriminate as uncorrelated LDA does, the one with the smallest sum of magnitudes. With
    more samples than features there is only one, uncorrelated LDA; with fewer, every class of the training
    samples collapses to a point.

    Parameters
    ----------
    iters : int in [1, 1000000], default=500
        Iterations.
    tol : float in [0, 1], default=1e-05
        Stop when the feasible and the sparse iterate agree to this share; 0: never stop early.
    variant : {"s0", "s1"}, default="s0"
        s1: let the directions rotate as well to get sparser (not convex; never worse than s0).
    scale : str, default="zscore,rms"
        Scaling learned in fit: "none", "unit" (each sample to length 1), "minmax", "zscore", "rms" (all
        samples by one number), or a chain of them.
    classifier : str, default="1nn"
        How predict decides: "1nn", "knn", "centroid", or the first three with "-cosine" behind: on outputs of
        length 1.
    n_neighbors : int, default=5
        For the classifier "knn".
    n_jobs : int or None, default=None
        Threads; None: 1 unless joblib says otherwise, -1: one per processor. The results do not depend on it.
    max_memory : int or None, default=None
        Bytes that a fit may hold beside X; None: no limit, and for sparse X the memory of the machine.
    verbose : int, default=0
        1: print a line for each iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    components_ : ndarray of shape (n_outputs, n_features)
        The map W, for scaled samples; a copy.
    intercept_ : ndarray of shape (n_outputs,)
        The offset b.
    feature_scores_ : ndarray of shape (n_features,)
        Euclidean norm of the feature's row of W; with fewer samples than features rows near 0 are not used.
    feature_importances_ : ndarray of shape (n_features,)
        The same, under the name that SelectFromModel looks for.
    objective_ : float
        The objective at the end; nan where the method has none, absent after load.
    n_iter_ : int
        Iterations; 0: solved in closed form. Absent after load.
    trace_ : structured ndarray of shape (n_iter_,)
        After each iteration "objective", "smoothed" (with eps in the norms), the terms "regression",
        "sparsity" and "locality", "eps" and the "seconds" so far; 0 or nan where the method has none. Absent
        after load.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    References
    ----------
    X. Zhang, D. Chu and R. C. E. Tan, Sparse Uncorrelated Linear Discriminant Analysis for Undersampled
    Problems, IEEE Transactions on Neural Networks and Learning Systems 27(7), 2016.
    """

    _method = "sulda"
    _method_params = ("iters", "tol", "variant")

    def __init__(
        self,
        *,
        iters: int = 500,
        tol: float = 1e-05,
        variant: str = "s0",
        scale: str = "zscore,rms",
        classifier: str = "1nn",
        n_neighbors: int = 5,
        n_jobs: int | None = None,
        max_memory: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.iters = iters
        self.tol = tol
        self.variant = variant
        self.scale = scale
        self.classifier = classifier
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose


class L21SDA(LinearMapEstimator):
    """Sparse Discriminant Analysis via Joint L2,1-Norm Minimisation.

    Optimal scoring: class scores and a linear map that predicts them are learned in turn, with an L2,1
    penalty that makes all c - 1 directions use the same features.

    Parameters
    ----------
    lam : float in [1e-12, 1e+12], default=3.0
        Weight of the row-sparsity of W: larger keeps fewer features.
    iters : int in [1, 1000000], default=30
        Iterations.
    eps : float in [1e-15, 1], default=1e-08
        Smoothing of the norms.
    loss : {"squared", "l21"}, default="squared"
        Squared residuals, or their L2,1 norm: then samples that do not fit count less.
    scale : str, default="zscore,rms"
        Scaling learned in fit: "none", "unit" (each sample to length 1), "minmax", "zscore", "rms" (all
        samples by one number), or a chain of them.
    classifier : str, default="1nn"
        How predict decides: "1nn", "knn", "centroid", or the first three with "-cosine" behind: on outputs of
        length 1.
    n_neighbors : int, default=5
        For the classifier "knn".
    n_jobs : int or None, default=None
        Threads; None: 1 unless joblib says otherwise, -1: one per processor. The results do not depend on it.
    max_memory : int or None, default=None
        Bytes that a fit may hold beside X; None: no limit, and for sparse X the memory of the machine.
    verbose : int, default=0
        1: print a line for each iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    components_ : ndarray of shape (n_outputs, n_features)
        The map W, for scaled samples; a copy.
    intercept_ : ndarray of shape (n_outputs,)
        The offset b.
    feature_scores_ : ndarray of shape (n_features,)
        Euclidean norm of the feature's row of W; rows near 0 are not used.
    feature_importances_ : ndarray of shape (n_features,)
        The same, under the name that SelectFromModel looks for.
    objective_ : float
        The objective at the end; nan where the method has none, absent after load.
    n_iter_ : int
        Iterations; 0: solved in closed form. Absent after load.
    trace_ : structured ndarray of shape (n_iter_,)
        After each iteration "objective", "smoothed" (with eps in the norms), the terms "regression",
        "sparsity" and "locality", "eps" and the "seconds" so far; 0 or nan where the method has none. Absent
        after load.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    References
    ----------
    X. Shi, Y. Yang, Z. Guo and Z. Lai, Face Recognition by Sparse Discriminant Analysis via Joint L2,1-Norm
    Minimization, Pattern Recognition 47(7), 2014.
    """

    _method = "l21sda"
    _method_params = ("lam", "iters", "eps", "loss")

    def __init__(
        self,
        *,
        lam: float = 3.0,
        iters: int = 30,
        eps: float = 1e-08,
        loss: str = "squared",
        scale: str = "zscore,rms",
        classifier: str = "1nn",
        n_neighbors: int = 5,
        n_jobs: int | None = None,
        max_memory: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.lam = lam
        self.iters = iters
        self.eps = eps
        self.loss = loss
        self.scale = scale
        self.classifier = classifier
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose


class ALDE(LinearMapEstimator):
    """Angle Linear Discriminant Embedding.

    The maximum margin criterion on directions instead of differences: every sample and every class mean
    counts by its angle only, so that distant ones do not dominate. Nothing is inverted, so few samples are no
    problem.

    Parameters
    ----------
    theta : float in [0, 1e+12], default=2.0
        Weight of the angles within classes against those between them.
    scale : str, default="zscore,rms"
        Scaling learned in fit: "none", "unit" (each sample to length 1), "minmax", "zscore", "rms" (all
        samples by one number), or a chain of them.
    classifier : str, default="1nn"
        How predict decides: "1nn", "knn", "centroid", or the first three with "-cosine" behind: on outputs of
        length 1.
    n_neighbors : int, default=5
        For the classifier "knn".
    n_jobs : int or None, default=None
        Threads; None: 1 unless joblib says otherwise, -1: one per processor. The results do not depend on it.
    max_memory : int or None, default=None
        Bytes that a fit may hold beside X; None: no limit, and for sparse X the memory of the machine.
    verbose : int, default=0
        1: print a line for each iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    components_ : ndarray of shape (n_outputs, n_features)
        The map W, for scaled samples; a copy.
    intercept_ : ndarray of shape (n_outputs,)
        The offset b.
    feature_scores_ : ndarray of shape (n_features,)
        Euclidean norm of the feature's row of the orthonormal W, between 0 and 1; depends on the units of the
        features.
    feature_importances_ : ndarray of shape (n_features,)
        The same, under the name that SelectFromModel looks for.
    objective_ : float
        The objective at the end; nan where the method has none, absent after load.
    n_iter_ : int
        Iterations; 0: solved in closed form. Absent after load.
    trace_ : structured ndarray of shape (n_iter_,)
        After each iteration "objective", "smoothed" (with eps in the norms), the terms "regression",
        "sparsity" and "locality", "eps" and the "seconds" so far; 0 or nan where the method has none. Absent
        after load.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    References
    ----------
    S. Liu, L. Feng and H. Qiao, Scatter Balance: An Angle-Based Supervised Dimensionality Reduction, IEEE
    Transactions on Neural Networks and Learning Systems 26(2), 277-289, 2015.
    """

    _method = "alde"
    _method_params = ("theta",)

    def __init__(
        self,
        *,
        theta: float = 2.0,
        scale: str = "zscore,rms",
        classifier: str = "1nn",
        n_neighbors: int = 5,
        n_jobs: int | None = None,
        max_memory: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.theta = theta
        self.scale = scale
        self.classifier = classifier
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose


class ReLSR(LinearMapEstimator):
    """Retargeted Least Squares Regression.

    Ridge regression on targets that are learned from the data: they may take any values that keep the true
    class ahead of every other by at least 1.

    Parameters
    ----------
    lam : float in [1e-12, 1e+12], default=0.1
        Weight of the squared size of W: larger gives a smoother map.
    iters : int in [1, 1000000], default=30
        Iterations.
    scale : str, default="zscore,rms"
        Scaling learned in fit: "none", "unit" (each sample to length 1), "minmax", "zscore", "rms" (all
        samples by one number), or a chain of them.
    classifier : str, default="1nn"
        How predict decides: "1nn", "knn", "centroid", "argmax" (the largest output), or the first three with
        "-cosine" behind: on outputs of length 1.
    n_neighbors : int, default=5
        For the classifier "knn".
    n_jobs : int or None, default=None
        Threads; None: 1 unless joblib says otherwise, -1: one per processor. The results do not depend on it.
    max_memory : int or None, default=None
        Bytes that a fit may hold beside X; None: no limit, and for sparse X the memory of the machine.
    verbose : int, default=0
        1: print a line for each iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    components_ : ndarray of shape (n_outputs, n_features)
        The map W, for scaled samples; a copy.
    intercept_ : ndarray of shape (n_outputs,)
        The offset b.
    feature_scores_ : ndarray of shape (n_features,)
        Euclidean norm of the feature's row of W; no row is exactly 0.
    feature_importances_ : ndarray of shape (n_features,)
        The same, under the name that SelectFromModel looks for.
    objective_ : float
        The objective at the end; nan where the method has none, absent after load.
    n_iter_ : int
        Iterations; 0: solved in closed form. Absent after load.
    trace_ : structured ndarray of shape (n_iter_,)
        After each iteration "objective", "smoothed" (with eps in the norms), the terms "regression",
        "sparsity" and "locality", "eps" and the "seconds" so far; 0 or nan where the method has none. Absent
        after load.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    References
    ----------
    X.-Y. Zhang, L. Wang, S. Xiang and C.-L. Liu, Retargeted Least Squares Regression Algorithm, IEEE
    Transactions on Neural Networks and Learning Systems 26(9), 2015.
    """

    _method = "relsr"
    _method_params = ("lam", "iters")

    def __init__(
        self,
        *,
        lam: float = 0.1,
        iters: int = 30,
        scale: str = "zscore,rms",
        classifier: str = "1nn",
        n_neighbors: int = 5,
        n_jobs: int | None = None,
        max_memory: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.lam = lam
        self.iters = iters
        self.scale = scale
        self.classifier = classifier
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose


class MPDA(LinearMapEstimator):
    """Manifold Partition Discriminant Analysis.

    Each class is cut into nearly flat patches; the map must follow their tangent spaces from neighbour to
    neighbour and keep near samples of different classes apart. Meant for samples of length 1; the result
    depends on the order of the samples within a class.

    Parameters
    ----------
    k : int in [1, 2147483647], default=7
        Neighbours within the class that predict a sample, and that scale the affinities.
    gamma : float in [0, 1e+12], default=1.0
        Weight of the agreement between tangent spaces of neighbouring patches.
    alpha : float in [1e-12, 1e+12], default=10.0
        Ridge on the projection and the tangent coefficients; absolute, meant for samples of length 1.
    patch : int in [4, 2147483647], default=10
        Patches are split while one has this many samples.
    geodesic : int in [1, 2147483647], default=6
        Neighbours in the graph along which distances are measured; more where a class falls apart.
    energy : float in [1e-12, 1], default=0.95
        Share of a patch's variance that its tangent space holds.
    scale : str, default="zscore,rms"
        Scaling learned in fit: "none", "unit" (each sample to length 1), "minmax", "zscore", "rms" (all
        samples by one number), or a chain of them.
    classifier : str, default="1nn"
        How predict decides: "1nn", "knn", "centroid", or the first three with "-cosine" behind: on outputs of
        length 1.
    n_neighbors : int, default=5
        For the classifier "knn".
    n_jobs : int or None, default=None
        Threads; None: 1 unless joblib says otherwise, -1: one per processor. The results do not depend on it.
    max_memory : int or None, default=None
        Bytes that a fit may hold beside X; None: no limit, and for sparse X the memory of the machine.
    verbose : int, default=0
        1: print a line for each iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    components_ : ndarray of shape (n_outputs, n_features)
        The map W, for scaled samples; a copy.
    intercept_ : ndarray of shape (n_outputs,)
        The offset b.
    feature_scores_ : ndarray of shape (n_features,)
        Euclidean norm of the feature's row of W, whose columns have variation 1 along the classes; depends on
        the units of the features.
    feature_importances_ : ndarray of shape (n_features,)
        The same, under the name that SelectFromModel looks for.
    objective_ : float
        The objective at the end; nan where the method has none, absent after load.
    n_iter_ : int
        Iterations; 0: solved in closed form. Absent after load.
    trace_ : structured ndarray of shape (n_iter_,)
        After each iteration "objective", "smoothed" (with eps in the norms), the terms "regression",
        "sparsity" and "locality", "eps" and the "seconds" so far; 0 or nan where the method has none. Absent
        after load.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    References
    ----------
    Y. Zhou and S. Sun, Manifold Partition Discriminant Analysis, IEEE Transactions on Cybernetics 47(4),
    830-840, 2017.
    """

    _method = "mpda"
    _method_params = ("k", "gamma", "alpha", "patch", "geodesic", "energy")

    def __init__(
        self,
        *,
        k: int = 7,
        gamma: float = 1.0,
        alpha: float = 10.0,
        patch: int = 10,
        geodesic: int = 6,
        energy: float = 0.95,
        scale: str = "zscore,rms",
        classifier: str = "1nn",
        n_neighbors: int = 5,
        n_jobs: int | None = None,
        max_memory: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.k = k
        self.gamma = gamma
        self.alpha = alpha
        self.patch = patch
        self.geodesic = geodesic
        self.energy = energy
        self.scale = scale
        self.classifier = classifier
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose


class RSLDA(LinearMapEstimator):
    """Robust Sparse Linear Discriminant Analysis.

    Discriminant analysis with a row-sparse map from whose outputs the samples can be rebuilt, up to an error
    that is sparse: features are selected, and damaged entries of a sample count little.

    Parameters
    ----------
    lambda1 : float in [1e-12, 1e+12], default=0.01
        Weight of the row-sparsity of W: larger keeps fewer features.
    lambda2 : float in [1e-12, 1e+12], default=0.01
        Weight of the sparse error: smaller lets more of a sample count as an error.
    iters : int in [1, 1000000], default=30
        Iterations.
    kappa : float in [0, 1000000], default=1e-05
        Weight of the scatter between classes; below beta0 / 2.
    beta0 : float in [1e-12, 100000], default=0.1
        First penalty.
    rho : float in [1, 10], default=1.01
        Growth of the penalty from one iteration to the next.
    scale : str, default="zscore,rms"
        Scaling learned in fit: "none", "unit" (each sample to length 1), "minmax", "zscore", "rms" (all
        samples by one number), or a chain of them.
    classifier : str, default="1nn"
        How predict decides: "1nn", "knn", "centroid", or the first three with "-cosine" behind: on outputs of
        length 1.
    n_neighbors : int, default=5
        For the classifier "knn".
    n_jobs : int or None, default=None
        Threads; None: 1 unless joblib says otherwise, -1: one per processor. The results do not depend on it.
    max_memory : int or None, default=None
        Bytes that a fit may hold beside X; None: no limit, and for sparse X the memory of the machine.
    verbose : int, default=0
        1: print a line for each iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    components_ : ndarray of shape (n_outputs, n_features)
        The map W, for scaled samples; a copy.
    intercept_ : ndarray of shape (n_outputs,)
        The offset b.
    feature_scores_ : ndarray of shape (n_features,)
        Euclidean norm of the feature's row of W; rows near 0 are not used.
    feature_importances_ : ndarray of shape (n_features,)
        The same, under the name that SelectFromModel looks for.
    objective_ : float
        The objective at the end; nan where the method has none, absent after load.
    n_iter_ : int
        Iterations; 0: solved in closed form. Absent after load.
    trace_ : structured ndarray of shape (n_iter_,)
        After each iteration "objective", "smoothed" (with eps in the norms), the terms "regression",
        "sparsity" and "locality", "eps" and the "seconds" so far; 0 or nan where the method has none. Absent
        after load.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    References
    ----------
    J. Wen, X. Fang, J. Cui, L. Fei, K. Yan, Y. Chen and Y. Xu, Robust Sparse Linear Discriminant Analysis,
    IEEE Transactions on Circuits and Systems for Video Technology 29(2), 2019.
    """

    _method = "rslda"
    _method_params = ("lambda1", "lambda2", "iters", "kappa", "beta0", "rho")

    def __init__(
        self,
        *,
        lambda1: float = 0.01,
        lambda2: float = 0.01,
        iters: int = 30,
        kappa: float = 1e-05,
        beta0: float = 0.1,
        rho: float = 1.01,
        scale: str = "zscore,rms",
        classifier: str = "1nn",
        n_neighbors: int = 5,
        n_jobs: int | None = None,
        max_memory: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.iters = iters
        self.kappa = kappa
        self.beta0 = beta0
        self.rho = rho
        self.scale = scale
        self.classifier = classifier
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose


class ALPR(LinearMapEstimator):
    """Adaptive Locality Preserving Regression.

    Regression without offset on targets that keep a margin of 1, with learned weights between all samples of
    a class that draw close ones together, and row-sparse W.

    Parameters
    ----------
    lambda1 : float in [0, 1e+12], default=1.0
        Weight of the locality term: larger pulls the samples of a class together.
    lambda2 : float in [1e-12, 1e+12], default=1.0
        Weight of the row-sparsity of W: larger keeps fewer features.
    iters : int in [1, 1000000], default=30
        Iterations.
    threshold : float in [0, 1e+12], default=0.0
        Rows of W whose squared length is below it become 0 at the end; 0: none, the authors' demo: 0.0001.
    scale : str, default="zscore,rms"
        Scaling learned in fit: "none", "unit" (each sample to length 1), "minmax", "zscore", "rms" (all
        samples by one number), or a chain of them.
    classifier : str, default="1nn"
        How predict decides: "1nn", "knn", "centroid", "argmax" (the largest output), or the first three with
        "-cosine" behind: on outputs of length 1.
    n_neighbors : int, default=5
        For the classifier "knn".
    n_jobs : int or None, default=None
        Threads; None: 1 unless joblib says otherwise, -1: one per processor. The results do not depend on it.
    max_memory : int or None, default=None
        Bytes that a fit may hold beside X; None: no limit, and for sparse X the memory of the machine.
    verbose : int, default=0
        1: print a line for each iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    components_ : ndarray of shape (n_outputs, n_features)
        The map W, for scaled samples; a copy.
    intercept_ : ndarray of shape (n_outputs,)
        The offset b.
    feature_scores_ : ndarray of shape (n_features,)
        Euclidean norm of the feature's row of W; rows near 0 are not used.
    feature_importances_ : ndarray of shape (n_features,)
        The same, under the name that SelectFromModel looks for.
    objective_ : float
        The objective at the end; nan where the method has none, absent after load.
    n_iter_ : int
        Iterations; 0: solved in closed form. Absent after load.
    trace_ : structured ndarray of shape (n_iter_,)
        After each iteration "objective", "smoothed" (with eps in the norms), the terms "regression",
        "sparsity" and "locality", "eps" and the "seconds" so far; 0 or nan where the method has none. Absent
        after load.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    References
    ----------
    J. Wen, Z. Zhong, Z. Zhang, L. Fei, Z. Lai and R. Chen, Adaptive Locality Preserving Regression, IEEE
    Transactions on Circuits and Systems for Video Technology, 2020; arXiv 1901.00563.
    """

    _method = "alpr"
    _method_params = ("lambda1", "lambda2", "iters", "threshold")

    def __init__(
        self,
        *,
        lambda1: float = 1.0,
        lambda2: float = 1.0,
        iters: int = 30,
        threshold: float = 0.0,
        scale: str = "zscore,rms",
        classifier: str = "1nn",
        n_neighbors: int = 5,
        n_jobs: int | None = None,
        max_memory: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.iters = iters
        self.threshold = threshold
        self.scale = scale
        self.classifier = classifier
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose


class RFS(LinearMapEstimator):
    """Robust Feature Selection.

    Regression on 0/1 class targets with the L2,1 norm both of the residuals and of W: outliers count little,
    and features that do not matter get rows near 0. The offset is a feature of ones, penalised with the
    others.

    Parameters
    ----------
    gamma : float in [1e-12, 1e+12], default=0.3
        Weight of the row-sparsity of W: larger keeps fewer features.
    iters : int in [1, 1000000], default=30
        Iterations.
    eps : float in [1e-15, 1], default=1e-08
        Smoothing of the norms.
    scale : str, default="zscore,rms"
        Scaling learned in fit: "none", "unit" (each sample to length 1), "minmax", "zscore", "rms" (all
        samples by one number), or a chain of them.
    classifier : str, default="1nn"
        How predict decides: "1nn", "knn", "centroid", "argmax" (the largest output), or the first three with
        "-cosine" behind: on outputs of length 1.
    n_neighbors : int, default=5
        For the classifier "knn".
    n_jobs : int or None, default=None
        Threads; None: 1 unless joblib says otherwise, -1: one per processor. The results do not depend on it.
    max_memory : int or None, default=None
        Bytes that a fit may hold beside X; None: no limit, and for sparse X the memory of the machine.
    verbose : int, default=0
        1: print a line for each iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    components_ : ndarray of shape (n_outputs, n_features)
        The map W, for scaled samples; a copy.
    intercept_ : ndarray of shape (n_outputs,)
        The offset b.
    feature_scores_ : ndarray of shape (n_features,)
        Euclidean norm of the feature's row of W; rows near 0 are not used.
    feature_importances_ : ndarray of shape (n_features,)
        The same, under the name that SelectFromModel looks for.
    objective_ : float
        The objective at the end; nan where the method has none, absent after load.
    n_iter_ : int
        Iterations; 0: solved in closed form. Absent after load.
    trace_ : structured ndarray of shape (n_iter_,)
        After each iteration "objective", "smoothed" (with eps in the norms), the terms "regression",
        "sparsity" and "locality", "eps" and the "seconds" so far; 0 or nan where the method has none. Absent
        after load.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    References
    ----------
    F. Nie, H. Huang, X. Cai and C. Ding, Efficient and Robust Feature Selection via Joint L2,1-Norms
    Minimization, Advances in Neural Information Processing Systems, 2010.
    """

    _method = "rfs"
    _method_params = ("gamma", "iters", "eps")

    def __init__(
        self,
        *,
        gamma: float = 0.3,
        iters: int = 30,
        eps: float = 1e-08,
        scale: str = "zscore,rms",
        classifier: str = "1nn",
        n_neighbors: int = 5,
        n_jobs: int | None = None,
        max_memory: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.gamma = gamma
        self.iters = iters
        self.eps = eps
        self.scale = scale
        self.classifier = classifier
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose


class LSR(LinearMapEstimator):
    """Least Squares Regression.

    Least squares on 0/1 class targets with a free offset; of all solutions the one of least norm. Fits the
    training samples exactly when there are more features than samples.

    Parameters
    ----------
    scale : str, default="zscore,rms"
        Scaling learned in fit: "none", "unit" (each sample to length 1), "minmax", "zscore", "rms" (all
        samples by one number), or a chain of them.
    classifier : str, default="1nn"
        How predict decides: "1nn", "knn", "centroid", "argmax" (the largest output), or the first three with
        "-cosine" behind: on outputs of length 1.
    n_neighbors : int, default=5
        For the classifier "knn".
    n_jobs : int or None, default=None
        Threads; None: 1 unless joblib says otherwise, -1: one per processor. The results do not depend on it.
    max_memory : int or None, default=None
        Bytes that a fit may hold beside X; None: no limit, and for sparse X the memory of the machine.
    verbose : int, default=0
        1: print a line for each iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    components_ : ndarray of shape (n_outputs, n_features)
        The map W, for scaled samples; a copy.
    intercept_ : ndarray of shape (n_outputs,)
        The offset b.
    feature_scores_ : ndarray of shape (n_features,)
        Euclidean norm of the feature's row of W; no row is exactly 0.
    feature_importances_ : ndarray of shape (n_features,)
        The same, under the name that SelectFromModel looks for.
    objective_ : float
        The objective at the end; nan where the method has none, absent after load.
    n_iter_ : int
        Iterations; 0: solved in closed form. Absent after load.
    trace_ : structured ndarray of shape (n_iter_,)
        After each iteration "objective", "smoothed" (with eps in the norms), the terms "regression",
        "sparsity" and "locality", "eps" and the "seconds" so far; 0 or nan where the method has none. Absent
        after load.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of str
        Their names, where X had names.

    References
    ----------
    T. Hastie, R. Tibshirani and J. Friedman, The Elements of Statistical Learning, 2nd edition, section 4.2,
    Springer, 2009.
    """

    _method = "lsr"
    _method_params = ()

    def __init__(
        self,
        *,
        scale: str = "zscore,rms",
        classifier: str = "1nn",
        n_neighbors: int = 5,
        n_jobs: int | None = None,
        max_memory: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.scale = scale
        self.classifier = classifier
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.max_memory = max_memory
        self.verbose = verbose


ESTIMATORS: dict[str, type[LinearMapEstimator]] = {estimator._method: estimator for estimator in (
    RLAR,
    RR,
    LDA,
    MMC,
    LSDA,
    LFDA,
    NMMP,
    SDA,
    SULDA,
    L21SDA,
    ALDE,
    ReLSR,
    MPDA,
    RSLDA,
    ALPR,
    RFS,
    LSR,
)}
