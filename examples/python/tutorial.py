# %% [markdown]
# # From data to a tuned, saved model
#
# The cells of this file run one after the other in editors that know `# %%` (VS Code, Spyder, PyCharm), as a notebook
# (`jupytext --to notebook tutorial.py`), or all at once: `python tutorial.py`. It takes about ten seconds and leaves
# `digits.rlar` and `tutorial.png` in the current folder.

# %%
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import rlar

# %% [markdown]
# ## Load
#
# Samples are rows, features columns, classes numbers or strings. The digits of scikit-learn are 1797 images of 8 x 8
# pixels. `rlar.datasets.read("table.csv", return_X_y=True)` would read a file of yours, and knows ARFF, LIBSVM, NPY and
# folders of images, too. Most images are put aside for the end: with many samples every method is good.

# %%
X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=400, stratify=y, random_state=0)
print(X_train.shape, X_test.shape)

# %% [markdown]
# ## A first model
#
# Every method is an estimator of scikit-learn: fit, predict, score. It learns a map from 64 pixels to 10 outputs, in
# which the classes are apart; the class of the nearest training sample is the answer. The scaling is part of the model.

# %%
model = rlar.RLAR().fit(X_train, y_train)
print(f"RLAR as it is: {model.score(X_test, y_test):.1%} of the test images are right")
print("outputs of one image:", model.transform(X_test[:1]).round(2)[0])

# %% [markdown]
# Where do images that it has not seen go? Along the two directions of the outputs with the largest variance:

# %%
rlar.plot.embedding(model, X_test, y_test).figure

# %% [markdown]
# Which pixels does it look at? The longer the row of the map that belongs to a pixel, the higher its score. There are no
# names here, so the scores are shown as the image that they belong to.

# %%
rlar.plot.feature_scores(model, image=(8, 8)).figure

# %% [markdown]
# ## Tune
#
# `alpha` is the weight of sparsity, `beta` that of neighbours within a class. Cross-validation on the training images
# chooses them; the test images stay aside. A flat top of the map says that the choice does not matter much.

# %%
grid = {"alpha": [0.003, 0.01, 0.03, 0.1, 0.3], "beta": [0.01, 0.03, 0.1, 0.3, 1]}
search = GridSearchCV(rlar.RLAR(), grid, cv=5).fit(X_train, y_train)
tuned = search.best_estimator_
print("chosen:", search.best_params_)
print(f"RLAR, tuned: {tuned.score(X_test, y_test):.1%} of the test images are right")
rlar.plot.heatmap(search).figure

# %% [markdown]
# ## Did it converge?
#
# `trace_` has the paper's objective after each iteration. The paper's own algorithm stops far above its minimum. The
# default goes, in a few steps, to the minimum of a smoothed objective, which classifies better; `eps=1e-8` asks for the
# minimum of the objective itself.

# %%
paper = rlar.RLAR(**search.best_params_, solver="paper").fit(X_train, y_train)
exact = rlar.RLAR(**search.best_params_, eps=1e-8).fit(X_train, y_train)
for name, fitted in {"default": tuned, "eps=1e-8": exact, "the paper's algorithm": paper}.items():
    print(f"{name}: objective {fitted.objective_:.1f}, {fitted.score(X_test, y_test):.1%} right")
curves = {"labels": ["the paper's algorithm", "default", "eps=1e-8"]}
rlar.plot.convergence(paper, tuned, exact, **curves).figure

# %% [markdown]
# ## Compare
#
# One random split says little. `rlar.evaluate` repeats it, with the same splits for every method and for the command
# `rlar evaluate`; here with 10 and 30 training images of each digit, and the parameters as they are. With `tune="cv"`
# they are chosen anew inside every training set, which takes longer.

# %%
results = rlar.evaluate(X, y, ["rlar", "lda", "lfda", "rr", "rfs"], train_per_class=[10, 30], trials=5)
table = results.pivot(index="method", columns="train_per_class", values="accuracy_mean")
print((100 * table).round(1).sort_values(30, ascending=False).to_string())

# %% [markdown]
# ## Use it with the rest of scikit-learn
#
# As a transformer before another classifier, or to select features:

# %%
pipeline = make_pipeline(rlar.RLAR(**search.best_params_), SVC()).fit(X_train, y_train)
print(f"RLAR's outputs, then an SVM: {pipeline.score(X_test, y_test):.1%}")
selection = make_pipeline(SelectFromModel(rlar.RLAR(), max_features=20), rlar.RLAR()).fit(X_train, y_train)
print(f"the best 20 of 64 pixels: {selection.score(X_test, y_test):.1%}")

# %% [markdown]
# ## Keep it
#
# The model file is that of the command line: `rlar predict digits.rlar images.csv` would read it, and a C program too.
# A pickle works as well, but runs code when it is read; a model file never does.

# %%
tuned.save("digits.rlar")
again = rlar.load("digits.rlar")
print("the same answers after loading:", bool((again.predict(X_test) == tuned.predict(X_test)).all()))

# %% [markdown]
# ## All figures on one page
#
# Every function of `rlar.plot` draws where it is told to, and gives the axes back for what you would like to change.

# %%
figure = Figure(figsize=(11, 8), layout="constrained")
axes = figure.subplots(2, 2)
rlar.plot.embedding(tuned, X_test, y_test, ax=axes[0, 0]).set_title("test images after the map")
rlar.plot.heatmap(search, ax=axes[0, 1]).set_title("validation accuracy over the grid", loc="left", fontsize="large")
rlar.plot.convergence(paper, tuned, exact, **curves, ax=axes[1, 0]).set_title("the paper's objective")
rlar.plot.feature_scores(tuned, image=(8, 8), ax=axes[1, 1]).set_title("scores of the pixels")
figure.savefig("tutorial.png", dpi=100)
