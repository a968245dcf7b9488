"""Bad input: everything that is wrong is said at once, exit status 2, nothing written, no traceback."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tribosweep.sweep import ConfigError, load
from tribosweep.sweep.analysis.branching import load as branchings
from tribosweep.sweep.analysis.calibration import load as calibrations
from tribosweep.sweep.analysis.optimisation import load as optimisations
from tribosweep.sweep.cli import main

TABLE = '[sweep]\ndesign = "table"\nfile = "points.csv"\n'
EULER = '[study]\nscheme = "euler"\n'
STOP = "[study]\nmodel = 'stop'\n"
WALL = "[study]\nmodel = 'buckling_wall'\n"
NODES = "post_set = [2, 3]\npost_stiffness = [0.2, 0.15]\n"
TABLED = f"{WALL}[parameters]\n{NODES}"  # a wall that is sound

CASES = {
    "an unknown key names the nearest one": (
        "[parameters]\nmuu = 1.0",
        ["parameters.muu: unknown parameter; did you mean 'mu' (Coulomb fr"],
    ),
    "an unknown section names the nearest one": ("[parametrs]\nmu = 1.0", ["parametrs: unknown key; did you mean 'parameters'?"]),
    "an unknown key of a section names the nearest one": ("[study]\nshceme = 'exact'", ["study.shceme", "'scheme'", "name, model, scheme"]),
    "an unknown model lists the known ones": ("[study]\nmodel = 'rubbing'", ["study.model: 'rubbing'", "'rubbing_mass'"]),
    "an unknown scheme lists the known ones": ("[study]\nscheme = 'eular'", ["study.scheme: 'eular'", "did you mean 'euler'?"]),
    "a name with a slash names no directory": ("[study]\nname = '../x'", ["study.name"]),
    "a word is no number": ("[parameters]\nmu = 'high'", ["parameters.mu: must be a number, not 'high'", "unit 1"]),
    "a boolean is no number": ("[parameters]\nm = true", ["parameters.m: must be a number, not true", "unit kg"]),
    "a list is no number": ("[parameters]\nm = [1.0]", ["parameters.m: must be a number", "[sweep.axes]"]),
    "a number is no section": ("study = 3", ["study: must be a table of keys, not 3"]),
    "a number is no name": ("[study]\nname = 3", ["study.name: must be text in quotes, not 3"]),
    "not a number is refused": ("[parameters]\nmu = nan", ["parameters.mu: must be a finite number, not nan"]),
    "infinity is refused": ("[parameters]\nk = inf", ["parameters.k: must be a finite number, not inf", "N/m"]),
    "an integer beyond every float is refused": (f"[parameters]\nk = 1{'0' * 400}", ["parameters.k: must be a finite number"]),
    "negative friction is out of bounds": (
        "[parameters]\nmu = -0.1",
        ["parameters.mu: -0.1 is out of bounds: must be >= 0 (Coulomb friction"],
    ),
    "a massless mass is out of bounds": ("[parameters]\nm = 0", ["parameters.m: 0 is out of bounds: must be > 0 (mass, unit kg)"]),
    "a time in [parameters] is sent to [time]": ("[parameters]\nend = 3.0", ["parameters.end: belongs in [time]"]),
    "a scheme in [parameters] is sent to [study]": ("[parameters]\nscheme = 'exact'", ["parameters.scheme: belongs in [study]"]),
    "a window after the end breaks a rule": (
        "[time]\nend = 5.0\nwindow = [4.0, 6.0]",
        ["time.window[1]", "window_end = 6 s is after end = 5 s"],
    ),
    "an empty window breaks a rule": ("[time]\nwindow = [4.0, 4.0]", ["time.window[0]", "must have a length"]),
    "a window is two times": ("[time]\nwindow = [4.0]", ["time.window: must be two times [start, end] in s"]),
    "a window of words is refused": (
        "[time]\nwindow = ['a', -1.0]",
        ["time.window[0]: must be a number", "time.window[1]: -1.0 is out of"],
    ),
    "a window of another word is refused": (
        "[time]\nwindow = 'stedy'",
        ["must be two times [start, end] in s, or \"steady\", not 'stedy'"],
    ),
    "a steady window knows no end": (
        "[time]\nend = 5.0\nwindow = 'steady'",
        ['time.end: time.window = "steady" is one period of the motion', "leave end out"],
    ),
    "a steady window knows no swept end": (
        "[time]\nwindow = 'steady'\n[sweep.axes]\nend = [5.0]\nwindow_start = [1.0]",
        ['sweep.axes.end: time.window = "steady"', 'sweep.axes.window_start: time.window = "steady"'],
    ),
    "a steady window is not for a time scheme": (
        "[study]\nscheme = 'euler'\n[parameters]\nk_t = 9e6\n[time]\nwindow = 'steady'",
        ["time.window: \"steady\" needs scheme 'exact', not 'euler': give the window as [start, end] in s"],
    ),
    "a steady window is not for swept time schemes": (
        "[parameters]\nk_t = 9e6\n[time]\nwindow = 'steady'\n[sweep.axes]\nscheme = ['exact', 'rk54', 'euler', 'rk54']",
        ["time.window: \"steady\" needs scheme 'exact', not 'rk54', 'euler'"],
    ),
    "an unstable step names the largest stable one": (
        f"{EULER}[parameters]\nk_t = 9e6\n[time]\nstep = 1e-3",
        ["time.step", "step = 0.001 s is unstable: with scheme 'euler' it must be less than 0.0002761 s"],
    ),
    "each scheme has a stability of its own": (
        "[study]\nscheme = 'devogelaere'\n[parameters]\nk_t = 9e6\n[time]\nstep = 3e-4",
        ["time.step", "step = 0.0003 s is unstable: with scheme 'devogelaere' it must be less than 0.0002997 s"],
    ),
    "a tolerance is positive": ("[time]\ntolerance = 0.0", ["time.tolerance: 0.0 is out of bounds: must be > 0"]),
    "the smallest step is not above the largest": (
        "[study]\nscheme = 'rk54'\n[parameters]\nk_t = 9e6\n[time]\nsmallest_step = 1e-3\nlargest_step = 1e-4",
        ["time.smallest_step: smallest_step must not exceed step, the first one", "time.largest_step: largest_step must not be less than"],
    ),
    "a run that chooses its steps is not endless": (
        "[study]\nscheme = 'rk54'\n[parameters]\nk_t = 9e6\n[time]\nend = 1e300",
        ["time.end: a run has at most 1e+08 steps", "end = 1e+300 s takes 2e+301 steps or more of at most 0.05 s"],
    ),
    "the smallest step is not above the first": (
        "[study]\nscheme = 'adapt2'\n[parameters]\nk_t = 9e6\n[time]\nstep = 1e-6\n[sweep.axes]\nsmallest_step = [1e-9, 1e-5]",
        ["sweep.axes.smallest_step", "smallest_step = 1e-05 s, step = 1e-06 s", "broken at 1 of 2 points"],
    ),
    "the largest step is not below the default smallest": (
        "[study]\nscheme = 'rk54'\n[parameters]\nk_t = 9e6\n[time]\nend = 1e-6\nstep = 1e-4\nlargest_step = 1e-11",
        ["1 problem\n  time.largest_step", "largest_step = 1e-11 s, smallest_step = 1e-10 s"],
    ),
    "retries are whole": (
        "[study]\nscheme = 'adapt1'\n[parameters]\nk_t = 9e6\n[time]\nretries = 3.5",
        ["time.retries: retries must be a whole number; retries = 3.5"],
    ),
    "a step is bounded without friction too": (
        f"{EULER}[parameters]\nmu = 0.0\nk = 4e6\n[time]\nstep = 2e-3",
        ["time.step", "it must be less than 0.001 s for k = 4e+06 N/m and c = 0 N s/m"],
    ),
    "the control of the step belongs in [time]": ("[parameters]\nretries = 3", ["parameters.retries: belongs in [time], as time.retries"]),
    "a single largest step belongs in [time]": ("[sweep.axes]\nlargest_step = 1e-3", ["a single value goes to [time]"]),
    "a time scheme needs a stiffness, and nothing else is wrong then": (
        EULER,
        ["1 problem\n  parameters.k_t", "needs the tangential stiffness"],
    ),
    "an unstable step names the largest that is stable everywhere": (
        f"{EULER}[time]\nstep = 1e-3\n[sweep.axes]\nk_t = [9e5, 1e8, 9e6, 5.0]",
        [
            "time.step",
            "point 1: step = 0.001 s is unstable: with scheme 'euler' it must be less than 8.284e-05 s",
            "broken at 3 of 4 points",
        ],
    ),
    "a stiffness for some of the schemes needs a zip": (
        "[sweep.axes]\nscheme = ['exact', 'euler']",
        ["parameters.k_t", 'design = "zip"', '"default" leaves the value out', "broken at 1 of 2 points"],
    ),
    "a parameter in a wrong section is sent to [parameters]": (
        "mu = 0.2\n[study]\nk = 1.0",
        ["mu: belongs in [parameters]", "study.k: belongs"],
    ),
    "a design in a wrong section is sent to [sweep]": ("[time]\ndesign = 'grid'", ["time.design: belongs in [sweep], as sweep.design"]),
    "static below dynamic friction is refused": ("[parameters]\nmu_s = 0.1\nmu_d = 0.2", ["parameters.mu_s", "mu_s = 0.1 is less"]),
    "an empty axis has no points": ("[sweep.axes]\nmu = []", ["sweep.axes.mu: empty", "0 points"]),
    "a sweep without axes has no points": ("[sweep]\ndesign = 'grid'", ["sweep.axes: empty: 0 points"]),
    "a range of no values has no points": ("[sweep.axes]\nmu = { from = 0.0, to = 1.0, count = 0 }", ["sweep.axes.mu.count: 0", ">= 1"]),
    "a count is a whole number": (
        "[sweep.axes]\nmu = { from = 0.0, to = 1.0, count = 2.5 }",
        ["sweep.axes.mu.count: must be a whole number"],
    ),
    "a range needs its ends": ("[sweep.axes]\nmu = { count = 3 }", ["sweep.axes.mu.from: missing", "sweep.axes.mu.to: missing"]),
    "a range has no other keys": (
        "[sweep.axes]\nmu = { from = 0, to = 1, count = 3, scale = 'log' }",
        ["sweep.axes.mu.scale: unknown key"],
    ),
    "a spacing is linear or log": ("[sweep.axes]\nmu = { from = 0, to = 1, count = 3, spacing = 'lin' }", ["mu.spacing", "'linear'"]),
    "a log axis cannot reach 0": (
        "[sweep.axes]\nmu = { from = 0.0, to = 1.0, count = 3, spacing = 'log' }",
        ["sweep.axes.mu: a log axis cannot touch or cross 0"],
    ),
    "the ends of a range have bounds": (
        "[sweep.axes]\nmu = { from = -1.0, to = 1.0, count = 3 }",
        ["sweep.axes.mu.from: -1.0 is out of bounds"],
    ),
    "a value of an axis is named by its position": ("[sweep.axes]\nmu = [0.1, 0.2, -0.3]", ["sweep.axes.mu[2]: -0.3 is out of bounds"]),
    "many bad values fill no screen": (f"[sweep.axes]\nmu = {[-1.0] * 50}", ["sweep.axes.mu[4]", "sweep.axes.mu: and 45 more values"]),
    "a single number is no axis": ("[sweep.axes]\nmu = 0.1", ["sweep.axes.mu: must be a list", "a single value goes to [parameters]"]),
    "a range of other programs is told its keys": (
        "[sweep.axes]\nmu = { start = 0.1, stop = 1.0, num = 5 }",
        [
            "3 problems",
            "mu.start: unknown key; a range calls it 'from'",
            "mu.stop: ",
            "'to'",
            "mu.num: unknown key; a range calls it 'count'",
        ],
    ),
    "a wrong key of a range that has all keys is unknown": (
        "[sweep.axes]\nmu = { from = 0.1, to = 1.0, count = 5, num = 5 }",
        ["1 problem", "mu.num: unknown key; did you mean 'count' (number of values)? Known: from, to, count, spacing"],
    ),
    "a key of [time] is known by other names, also among parameters": (
        "[parameters]\ndt = 1e-3\n[time]\nduration = 3.0\n[sweep]\nn = 5",
        [
            "parameters.dt: belongs in [time], as time.step",
            "time.duration: unknown key; did you mean 'end' (",
            "sweep.n",
            "calls it 'count'",
        ],
    ),
    "an observable is no axis": ("[sweep.axes]\nwear_power = [1.0]", ["wear_power: an observable, which a run returns"]),
    "a word names the parameter that it means, and few others": (
        "[parameters]\nmass = 1.0\nfriction = 0.1",
        ["parameters.mass: unknown parameter; did you mean 'm' (mass)? `tribosweep list parameters` shows all\n", "friction: ", "'mu'"],
    ),
    "an unknown axis names the nearest parameter": (
        "[sweep.axes]\nomga = [1.0]",
        ["sweep.axes.omga", "did you mean 'omega' (circular"],
    ),
    "a scheme axis holds schemes": ("[sweep.axes]\nscheme = ['exact', 'eular', 3]", ["scheme[1]: 'eular'", "'euler'", "scheme[2]: 3"]),
    "a scheme axis is a list": ("[sweep.axes]\nscheme = 'exact'", ["sweep.axes.scheme: must be a list of words"]),
    "a window that is also an axis is given twice": (
        "[time]\nwindow = [1.0, 2.0]\n[sweep.axes]\nwindow_start = [0.0]",
        ["sweep.axes.window_start: given twice: also in time.window[0]"],
    ),
    "a key given twice is named with its line": ("[sweep.axes]\nmu = [0.1]\nmu = [0.2]", ["given twice", "line 3"]),
    "axes of a zip are of equal length": (
        "[sweep]\ndesign = 'zip'\n[sweep.axes]\nmu = [0.1]\na0 = [1.0, 2.0]",
        ["sweep.axes: axes of a zip must be of equal length: mu has 1, a0 has 2"],
    ),
    "a sampling design needs the number of its points": (
        "[sweep]\ndesign = 'sobol'\n[sweep.axes]\nmu = [0.1]",
        ["sweep.count: missing: design 'sobol' needs the number of its points"],
    ),
    "a sampling design has at least one point": (
        "[sweep]\ndesign = 'latin_hypercube'\ncount = 0\nseed = -1\n[sweep.axes]\nmu = [0.1]",
        ["sweep.count: 0 is out of bounds: must be >= 1", "sweep.seed: -1 is out of bounds: must be >= 0"],
    ),
    "a number of points is whole": (
        "[sweep]\ndesign = 'sobol'\ncount = 1e3\n[sweep.axes]\nmu = [0.1]",
        ["sweep.count: must be a whole number, not 1000.0"],
    ),
    "an axis that is drawn from has no count": (
        "[sweep]\ndesign = 'sobol'\ncount = 8\n[sweep.axes]\nmu = { from = 0.1, to = 0.2, count = 3 }",
        ["sweep.axes.mu.count: this range has no count of its own: sweep.count says"],
    ),
    "a grid has neither count nor seed": (
        "[sweep]\ncount = 8\nseed = 1\n[sweep.axes]\nmu = [0.1]",
        ['sweep.count: belongs to design = "sobol" or "latin_hypercube" or', "this one is 'grid'", "sweep.seed: belongs to"],
    ),
    "whole numbers go from one to another": (
        "[sweep.axes]\nretries = { from = 1.5, to = 3, spacing = 'integer' }",
        ["sweep.axes.retries: an integer axis goes up from one whole number to another: from = 1.5, to = 3.0"],
    ),
    "whole numbers go up": ("[sweep.axes]\nretries = { from = 3, to = 1, spacing = 'integer' }", ["goes up from one whole number"]),
    "whole numbers count themselves": (
        "[sweep.axes]\nretries = { from = 1, to = 3, count = 3, spacing = 'integer' }",
        ["sweep.axes.retries.count: this range has no count of its own: it has every whole number"],
    ),
    "a concatenation is written as several tables": (
        "[sweep]\ndesign = 'concatenation'",
        ["sweep.design: 'concatenation' is not available", "several [[sweep]] tables instead of one [sweep]"],
    ),
    "a problem in one of several designs is named with its number": (
        "[[sweep]]\n[sweep.axes]\nmu = [0.1]\n[[sweep]]\ndesing = 'zip'\n[sweep.axes]\nmuu = [0.1]\n[[sweep]]\ndesign = 3",
        [
            "sweep[1].desing: unknown key; did you mean 'design' (",
            "sweep[1].axes.muu: unknown parameter",
            "sweep[2].design: must be text",
        ],
    ),
    "a convergence study stands alone": (
        "[study]\nscheme = 'rk54'\n[parameters]\nk_t = 9e6\n[[sweep]]\n[sweep.axes]\nmu = [0.1]\n[[sweep]]\ndesign = 'convergence'",
        ["sweep[1].design: a convergence study stands alone"],
    ),
    "a list of no designs has no points": ("sweep = []", ["sweep: an empty list of designs: 0 points"]),
    "a list of designs holds tables": ("sweep = [3]", ["sweep[0]: must be a table of keys, not 3"]),
    "a shard has at least one point": (
        "[output]\nshard_points = 0",
        ["output.shard_points: 0 is out of bounds: must be >= 1 and <= 1048576"],
    ),
    "shards are not too many": (
        "[output]\nshard_points = 10\n[sweep]\ndesign = 'sobol'\ncount = 1000000000\n[sweep.axes]\nmu = [0.1]",
        ["output.shard_points: 10 is too few for 1e+09 points: must be >= 1000"],
    ),
    "the size of shards belongs in [output]": ("[study]\nshard_points = 10", ["study.shard_points: belongs in [output]"]),
    "an unknown design lists the known ones": ("[sweep]\ndesign = 'gird'\n[sweep.axes]\nmu = [0.1]", ["did you mean 'grid' ("]),
    "a design of too many points is refused": (
        "[sweep.axes]\n" + "\n".join(f"{name} = {{ from = 1.0, to = 2.0, count = 1000000 }}" for name in ("a0", "mu", "f0")),
        ["sweep: 1e+18 points"],
    ),
    "a rule names the first of the points that break it": (
        "[sweep.axes]\nmu_s = [0.3, 0.2]\nmu_d = [0.1, 0.25]",
        ["sweep.axes.mu_s", "point 3: mu_s = 0.2 is less than mu_d = 0.25", "broken at 1 of 4 points"],
    ),
    "a table needs a file": ("[sweep]\ndesign = 'table'", ["sweep.file: missing"]),
    "a table has no axes": (TABLE + "[sweep.axes]\nmu = [0.1]", ["sweep.axes: a table of points has no axes"]),
    "a grid has no file": ("[sweep]\nfile = 'points.csv'\n[sweep.axes]\nmu = [0.1]", ["sweep.file"]),
    "a file that is missing is named": (TABLE.replace("points", "nowhere"), ["sweep.file: cannot read", "nowhere.csv"]),
    "a file of another kind is refused": (TABLE.replace("csv", "xlsx"), ["must end in .csv or .parquet"]),
    "a decimal comma in TOML is explained": (
        "[parameters]\nm = 1.0\nmu = 0,1\n",
        ["not TOML", "line 3", "numbers have a decimal point, not a comma"],
    ),
    "what is not TOML is named with its line": ("[study]\nname = \n", ["not TOML", "line 2"]),
}

TABLES = {
    "a column that is no parameter names the nearest": ("omga\n1.0\n", ["column omga: unknown parameter; did you mean 'omega' ("]),
    "a unit that is none of a column is refused": (
        "a0 [mm]\n1.0\n",
        ["column a0 [mm]: 'mm', as the header says, is no unit of a0"],
    ),
    "a unit that may be turns or radians is refused": ("omega [1/s]\n1.0\n", ["no unit of omega", "rad/s", "turns or radians"]),
    "a cell out of bounds is told in SI": ("m [g]\n-5.0\n", ["column m, row 1: -0.005 is out of bounds: must be > 0", "unit kg"]),
    "words have no unit": ("scheme [1]\nexact\n", ["column scheme [1]: a column of words has no unit"]),
    "a column given twice, once with a unit, is refused": ("a0,a0 [g]\n1.0,2.0\n", ["column a0: given twice"]),
    "a column given twice is refused": ("mu,mu\n1.0,2.0\n", ["column mu: given twice"]),
    "a cell that is no number is named by its row": ("mu\n0.1\nhigh\n", ["column mu, row 2: 'high' is not a number", "unit 1"]),
    "a cell out of bounds is named by its row": ("mu\n0.1\n-0.5\n", ["column mu, row 2: -0.5 is out of bounds: must be >= 0"]),
    "a cell that is no scheme is named by its row": ("scheme\nexact\neular\n", ["column scheme, row 2: 'eular' is not a scheme"]),
    "a table without rows has no points": ("mu\n", ["has no rows: 0 points"]),
    "a table separated by semicolons is explained": ("mu;a0\n0.1;1.0\n", ["columns are separated by commas"]),
    "an empty file is no table": ("", ["cannot read"]),
    "a row with too many cells is reported": ("mu\n0.1,2.0\n", ["line 2: '0.1,2.0' has 2 cells, and the header 1"]),
    "a row with too few cells is reported": ('# x\nmu,a0\n0.1,2\n"5"\n', ["line 4:", "has 1 cells, and the header 2"]),
    "a decimal comma in a row is explained": ("mu,a0\n0,5,1,5\n", ["line 2: '0,5,1,5' has 4 cells", "a decimal point, not a comma"]),
    "a decimal comma in a cell is explained": ('mu\n"0,5"\n', ["column mu, row 1: '0,5' is not a number; numbers have a decimal point"]),
    "a decimal comma in a list of German tables is explained": (
        "mu;a0\n0,5;1,5\n",
        ["separated by commas", "a decimal point, not a comma"],
    ),
    "a blank line is no row of several columns": ("# x\n\nmu,a0\n0.1,2\n\n0.2,3\n", ["line 5: is blank"]),
    "nor one after a cell with a line end": ('scheme,mu\n"exact",1\n"a\n\nb",2\r\n\r\nexact,3\n', ["line 6: is blank"]),
    "what follows a cell in quotes is no part of it": (
        'mu\n0.1\n"1"5\n',
        ["cannot read", "line 3: a cell in quotes must end with a quote"],
    ),
    "a cell in quotes that does not end is refused": ('# "x\n"mu",a0\n"0.1,2\n', ["line 3: a cell in quotes must end with a quote"]),
    "NaN with a payload is no number": ("mu\n0.1\nnan(1)\n", ["column mu, row 2: 'nan(1)' is not a number"]),
}

WALLS = {
    "a wall without a table or a stiffness after buckling": (WALL, ["1 problem", "parameters.k_post", "give k_post, or a table"]),
    "a wall with both": (f"{TABLED}k_post = 1.0", ["1 problem", "parameters.k_post", "leave out k_post, or the table"]),
    "a force after buckling above that at which it buckles": (
        f"{TABLED}f_post = 2.0",
        ["1 problem", "parameters.f_post: the force after buckling must not exceed", "f_post = 2 N, f_crit = 1 N"],
    ),
    "negative widths": (
        f"{TABLED}plateau = -1.0\nsoftening = -2.0",
        ["parameters.plateau: -1.0 is out of bounds: must be >= 0", "parameters.softening: -2.0 is out of bounds: must be >= 0", "unit m)"],
    ),
    "a wall without stiffness": (f"{TABLED}k_n = 0.0", ["1 problem", "parameters.k_n: 0.0 is out of bounds: must be > 0", "unit N/m"]),
    "a stop with less than none": (f"{STOP}[parameters]\nk_n = -1.0", ["parameters.k_n: -1.0 is out of bounds: must be > 0"]),
    "a total compression that does not grow names its node": (
        f"{WALL}[parameters]\npost_set = [2, 3, 3.1]\npost_stiffness = [0.2, 0.15, 0.3]",
        ["1 problem", "parameters.post_stiffness", "must grow from node to node", "node 2 has 4.76667 m, node 1 6.33333 m"],
    ),
    "a total compression below the end of the softening names its node": (
        f"{TABLED}softening = 9.0",
        ["1 problem", "parameters.post_stiffness", "node 0 has 4.5 m, the end of the softening 10 m"],
    ),
    "a plastic set that falls names its node": (
        f"{WALL}[parameters]\npost_set = [3, 2]\npost_stiffness = [0.2, 0.1]",
        ["1 problem", "parameters.post_set", "node 1 has 2 m, node 0 3 m"],
    ),
    "a plastic set below the plateau names its node": (
        f"{TABLED}plateau = 2.5",
        ["1 problem", "parameters.post_set", "node 0 has 2 m, the end of the softening 2.5 m"],
    ),
    "tables of unequal length say how long each is": (
        f"{TABLED}post_damping = [1.0]",
        ["1 problem", "parameters.post_set", "post_set has 2, post_stiffness has 2, post_damping has 1"],
    ),
    "a stiffness after buckling that is too small": (
        f"{WALL}[parameters]\nk_post = 0.1",
        ["1 problem", "parameters.k_post", "k_post = 0.1 N/m must be at least 0.5 N/m"],
    ),
    "a bad node is named with its number": (
        f"{WALL}[parameters]\npost_set = [2, 3]\npost_stiffness = [0.2, -0.1]",
        ["1 problem", "parameters.post_stiffness[1]: node 1: -0.1 is out of bounds: must be > 0", "unit N/m"],
    ),
    "nodes that are no numbers": (
        f"{WALL}[parameters]\npost_set = ['two', true, nan]",
        [f"parameters.post_set[{node}]: node {node}: must be" for node in range(3)],
    ),
    "a number is no table": (
        f"{WALL}[parameters]\npost_set = 2.0",
        ["parameters.post_set: must be a list of numbers such as [2.0, 3.0], not 2.0"],
    ),
    "several tables go to the axes": (
        f"{WALL}[parameters]\npost_set = [[2, 3], [4]]",
        ["must be a number, not [2, 3]", "several values go to [sweep.axes]"],
    ),
    "an axis of one table is a list of it": (
        f"{WALL}[sweep.axes]\npost_set = [2, 3]",
        ["sweep.axes.post_set: must be a list of lists of numbers", "not [2, 3]; a single table goes to [parameters]"],
    ),
    "a node of an axis is named by both numbers": (
        f"{WALL}[sweep.axes]\npost_set = [[2, 3], 'default', [2, -3], 4]",
        ["2 problems", "sweep.axes.post_set[2][1]: node 1: -3 is out of bounds", "sweep.axes.post_set[3]: must be a list of numbers"],
    ),
    "a table of an axis that breaks a rule is named by its point": (
        f"{WALL}[parameters]\npost_stiffness = [0.2, 0.15]\n[sweep.axes]\npost_set = [[2, 3], [3, 2], [1, 2, 3]]",
        ["sweep.axes.post_set", "point 2: post_set has 3, post_stiffness has 2", "point 1: node 1 has 2 m, node 0 3 m", "broken at 1 of 3"],
    ),
    "tables are no range": (
        f"{WALL}[sweep.axes]\npost_set = {{ from = 0, to = 1, count = 2 }}",
        ["sweep.axes.post_set: must be a list of lists"],
    ),
    "an unknown word names the nearest": (
        f"{TABLED}damping_criterion = 'exclude'",
        ["1 problem", "parameters.damping_criterion: 'exclude' is not a word of it; did you mean 'excluded'? Known: included, excluded"],
    ),
    "a code is no word": (f"{TABLED}damping_criterion = 1", ["parameters.damping_criterion: 1 is not a word of it"]),
    "an unknown word of an axis is named by its position": (
        f"{TABLED}[sweep.axes]\ndamping_criterion = ['included', 'exc', 'default']",
        ["1 problem", "sweep.axes.damping_criterion[1]: 'exc' is not a word of it; did you mean 'excluded'?"],
    ),
    "words are no range": (
        f"{TABLED}[sweep.axes]\ndamping_criterion = {{ from = 0, to = 1, count = 2 }}",
        ["sweep.axes.damping_criterion: must be a list of words, such as ['included', 'excluded']"],
    ),
    "a single word is no axis": (
        f"{TABLED}[sweep.axes]\ndamping_criterion = 'excluded'",
        ["must be a list of words", "a single value goes to [parameters]"],
    ),
    "three sides": (f"{STOP}[parameters]\nsides = 3", ["parameters.sides: 3 is out of bounds: must be a whole number from 1 to 2"]),
    "half a side": (f"{STOP}[sweep.axes]\nsides = [1, 1.5]", ["sweep.axes.sides[1]: 1.5 is out of bounds: must be a whole number"]),
    "a range through half a side": (
        f"{STOP}[sweep.axes]\nsides = {{ from = 1, to = 2, count = 3 }}",
        ["sweep.axes.sides: a step of 0.5 does not give whole numbers", "list the values"],
    ),
    "a log range of sides": (
        f"{STOP}[sweep.axes]\nsides = {{ from = 1, to = 2, count = 2, spacing = 'log' }}",
        ["sweep.axes.sides: a log range does not give whole numbers"],
    ),
    "a misspelt parameter of a wall names the nearest": (
        f"{TABLED}post_sett = [1.0]",
        ["parameters.post_sett: unknown parameter; did you mean 'post_set' (plastic set at the nodes of the table)?"],
    ),
    "a parameter of another model is said to be one": (
        f"{STOP}[parameters]\nf_crit = 1.0\n[sweep.axes]\nplateau = [1.0]",
        ["parameters.f_crit: no parameter of the model stop, but of buckling_wall", "sweep.axes.plateau: no parameter of the model stop"],
    ),
    "two bodies that rub": (f"{STOP}[parameters]\nm_2 = 1.0\nmu = 0.1", ["parameters.m_2", "m_2 = 1 kg and mu_s = 0.1"]),
    "a second body without a mass": (f"{STOP}[parameters]\nv0_2 = 1.0", ["parameters.v0_2: a second body needs a mass: give m_2"]),
    "rules beside other problems": (f"{TABLED}f_post = 2.0\nplateau = 'x'", ["2 problems", "parameters.plateau", "f_post = 2 N"]),
}

WALL_TABLES = {
    "a node that is no number": ("post_set\n2;3\n2;x;3\n", ["column post_set, row 2, node 1: 'x' is not a finite number", "unit m"]),
    "a node that is missing": ("post_set\n2;;3\n", ["column post_set, row 1, node 1: an empty cell is not a finite number"]),
    "a node out of bounds": ('post_stiffness\n1;2\n"1; 0"\n', ["column post_stiffness, row 2, node 1: 0.0 is out of bounds: must be > 0"]),
    "a word that is none": (
        "damping_criterion\nexcluded\nno\n",
        ["column damping_criterion, row 2: 'no' is not a word of it", "Known: included, excluded"],
    ),
    "a column of another model": ("sides\n1\n", ["column sides: no parameter of the model buckling_wall, but of stop"]),
    "tables of unequal length": (
        "post_set,post_stiffness,post_damping\n2;3,0.2;0.15,\n2;3,0.2,\n",
        ["sweep.file: column post_set", "point 1: post_set has 2, post_stiffness has 1, post_damping has 2"],
    ),
}


@pytest.mark.parametrize(("text", "fragments"), (CASES | WALLS).values(), ids=(CASES | WALLS).keys())
def test_bad_configuration_is_refused_with_its_reason(
    text: str, fragments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "study.toml"
    config.write_text(text)
    assert_refused(config, fragments, capsys)


@pytest.mark.parametrize(("text", "fragments"), TABLES.values(), ids=TABLES.keys())
def test_bad_table_is_refused_with_its_reason(text: str, fragments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "points.csv").write_text(text)
    config = tmp_path / "study.toml"
    config.write_text("[parameters]\nm = 1.0\n" + TABLE)
    assert_refused(config, fragments, capsys)


@pytest.mark.parametrize(("text", "fragments"), WALL_TABLES.values(), ids=WALL_TABLES.keys())
def test_bad_table_of_walls_is_refused_with_its_reason(
    text: str, fragments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "points.csv").write_text(text)
    config = tmp_path / "study.toml"
    config.write_text(f"{WALL}{TABLE}")
    assert_refused(config, fragments, capsys)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([1.0, 2.0]), "must hold lists of numbers, such as 2;3;4;5 in CSV, not double"),
        (pa.array([["a"]]), "must hold lists of numbers"),
        (pa.array([[1.0], [2.0, None]]), "row 2, node 1: an empty cell is not a finite number"),
        (pa.array([[1.0], None, [np.inf]]), "row 3, node 0: inf is not a finite number"),
        (pa.array(["2;3", "2;nan(1)"]), "row 2, node 1: 'nan(1)' is not a finite number"),
    ],
)
def test_a_column_that_holds_no_tables_is_refused(
    column: pa.Array, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pq.write_table(pa.table({"post_set": column}), tmp_path / "points.parquet")
    config = tmp_path / "study.toml"
    config.write_text(f"{WALL}{TABLE}".replace("csv", "parquet"))
    assert_refused(config, [message, "unit m"], capsys)


def test_a_column_that_holds_no_words_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "study.toml"
    config.write_text(TABLE.replace("csv", "parquet"))
    far = pa.array([10**8], pa.int32()).cast(pa.date32())  # later than the dates of Python
    for column, message in (
        (pa.array([{"a": 1}]), "column scheme: must hold words, not struct"),
        (pa.array([1], pa.timestamp("ns", "Foo/Bar")), "column scheme: must hold words, not timestamp[ns, tz=Foo/Bar]"),
        (far, "column scheme, row 1: '<value out of range: 100000000>' is not a scheme"),
        (pa.array([b"exact"]), "column scheme: must hold words, not binary"),
    ):
        pq.write_table(pa.table({"scheme": column}), tmp_path / "points.parquet")
        assert_refused(config, [message], capsys)


def test_cells_in_quotes_are_read_as_they_are(tmp_path: Path) -> None:
    config = tmp_path / "study.toml"
    config.write_text(TABLE)
    (tmp_path / "points.csv").write_text('# he said "so\n"mu","scheme"\n"0.1","exact"\n0.2,""\n"",exact\n')
    assert load(config).design.points(0, 3).columns["mu"].tolist() == pytest.approx([0.1, 0.2, np.nan], nan_ok=True)


def assert_refused(config: Path, fragments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """`tribosweep run` exits 2, says every fragment on stderr, and leaves no trace."""
    before = sorted(config.parent.rglob("*"))
    assert main(["run", str(config)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" not in said.err
    assert said.err.startswith(f"{config}: ")
    for fragment in fragments:
        assert fragment in said.err
    assert sorted(config.parent.rglob("*")) == before
    assert not list(Path.cwd().iterdir())


def test_all_problems_are_reported_at_once() -> None:
    study = {
        "stdy": {},
        "study": {"name": 3, "model": "rubing", "shceme": "exact"},
        "parameters": {"mu": -0.1, "m": True, "muu": 1.0},
        "time": {"end": -1.0, "window": "stedy"},
        "sweep": {"design": "zip", "axes": {"a0": [], "omega": 3.0, "k": [1.0, -1.0], "c": {"from": 0.0, "count": 0, "spacing": "x"}}},
    }
    with pytest.raises(ConfigError) as caught:
        load(study, ["parameters.g=-9.81", "nothing"])
    paths = [problem.path for problem in caught.value.problems]
    expected = [
        "stdy",
        "study.name",
        "study.model",
        "study.shceme",
        "parameters.mu",
        "parameters.m",
        "parameters.muu",
        "time.end",
        "time.window",
    ]
    expected += ["sweep.axes.a0", "sweep.axes.omega", "sweep.axes.k[1]", "sweep.axes.c.to", "sweep.axes.c.count", "sweep.axes.c.spacing"]
    expected += ["--set parameters.g", "--set nothing"]
    assert sorted(paths) == sorted(expected)


def test_rules_between_right_values_are_reported_beside_wrong_values() -> None:
    study = {
        "study": {"scheme": "euler"},
        "parameters": {"mu": -0.1, "k_t": 9e6},
        "time": {"end": 12.0, "step": 1e-3, "window": [4.0, 13.0]},
        "sweep": {"axes": {"a0": []}},
    }
    with pytest.raises(ConfigError) as caught:
        load(study)
    found = {problem.path: problem.message for problem in caught.value.problems}
    assert set(found) == {"parameters.mu", "sweep.axes.a0", "time.window[1]", "time.step"}
    assert "less than 0.0002761 s" in found["time.step"]


def test_a_rule_that_speaks_of_a_wrong_or_swept_value_waits_until_that_is_put_right() -> None:
    with pytest.raises(ConfigError) as caught:
        load({"parameters": {"mu": -0.1, "mu_s": 0.05}, "time": {"window": [4.0, 13.0]}, "sweep": {"axes": {"end": [14.0], "x": [1.0]}}})
    assert {problem.path for problem in caught.value.problems} == {"parameters.mu", "sweep.axes.x"}


def test_a_mistake_in_an_override_is_said_to_be_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "study.toml").write_text("[parameters]\nmu = 0.1\n")
    settings = [
        "parameter.mu=0.2",
        "mu=0.2",
        "parameters.muu=1",
        "parameters.mu",
        "parameters.mu=high",
        "time.window=3",
        "parameters.mu.x=1",
    ]
    assert main(["run", str(tmp_path / "study.toml"), *(word for setting in settings for word in ("--set", setting))]) == 2
    said = capsys.readouterr().err
    for fragment in (
        "7 problems",
        "--set parameter: unknown key; did you mean 'parameters'?",
        "--set mu: belongs in [parameters], as parameters.mu",
        "--set parameters.muu: unknown parameter; did you mean 'mu' (Coulomb friction coefficient)?",
        "--set parameters.mu: must be path=value, such as parameters.mu=0.2",
        "--set parameters.mu: must be a number, not 'high'",
        '--set time.window: must be two times [start, end] in s, or "steady", not 3',
        "--set parameters.mu.x=1: mu is a value, not a table of keys",
    ):
        assert fragment in said


def test_rules_are_reported_together() -> None:
    study = {"parameters": {"mu_s": 0.1, "mu_d": 0.2, "k_t": 1.0}, "time": {"end": 1.0, "window": [0.5, 2.0]}}
    with pytest.raises(ConfigError) as caught:
        load(study)
    assert [problem.path for problem in caught.value.problems] == ["time.window[1]", "parameters.mu_s"]


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[" * 5000, b"a = 1\x00"])
def test_a_file_that_is_not_text_is_refused(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "study.toml"
    config.write_bytes(content)
    assert_refused(config, ["not TOML"], capsys)


def test_a_missing_file_and_a_directory_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(tmp_path / "no.toml")]) == 2
    assert main(["run", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("cannot be read") == 2


@pytest.mark.parametrize(("written", "meant"), [("optimize", "optimise"), ("calibrate", "calibration"), ("branch", "branches")])
def test_a_section_of_another_command_is_advised(written: str, meant: str) -> None:
    study = {"parameters": {"a0": 1.0}, written: {}}
    with pytest.raises(ConfigError) as error:
        load(study)
    (problem,) = error.value.problems
    assert problem.message.startswith(f"unknown key; did you mean {meant!r}")
    readers = {"optimise": optimisations.load, "calibration": calibrations.load, "branches": branchings.load}
    with pytest.raises(ConfigError) as error:
        readers[meant](study)
    assert f"; is {written!r} meant as [{meant}]?" in error.value.problems[0].message
