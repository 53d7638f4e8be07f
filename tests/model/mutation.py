#!/usr/bin/env python3
"""Leaves out every memory order of some files, one at a time, and sees that a model fails.

usage: mutation.py MODEL_TESTS [--filter GTEST_FILTER] [-j JOBS] FILE...

Nothing is compiled again: the model checker itself does without one order at one place
(ROUSE_MODEL_LEAVE_OUT). An order that no model misses, or that no model comes to, is reported, and
the test fails: a model is missing, or the order is not needed.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import time

LONGEST = 300  # seconds, for one model


def run_model(program, test, **environment):
    """Whether the model passes, and what it printed. One that takes too long does not fail."""
    try:
        done = subprocess.run(
            [program, f"--gtest_filter={test}", "--gtest_brief=1"],
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired:
        return True, f"more than {LONGEST} s"
    return done.returncode == 0 or "the model is too large" in done.stderr, done.stderr


def list_models(program, pattern):
    listing = subprocess.run(
        [program, "--gtest_list_tests", f"--gtest_filter={pattern}"],
        check=True, stdout=subprocess.PIPE, text=True,
    ).stdout
    suite = ""
    for line in listing.splitlines():
        if line.startswith("  "):
            yield suite + line.split()[0]
        else:
            suite = line.split()[0] if line.endswith(".") or "# " in line else ""


def file_of(order, files):
    """The file in which an order stands; none: None. A compiler cache names it from the build's
    folder, so only the end of its path counts."""
    name = "/" + order.split(":")[0]
    return next((path for path in files if name.endswith("/" + path)), None)


def orders_in_text(path):
    """The lines of a file on which an order stands, without its comments."""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            code = line.split("//")[0]
            for order in re.findall(r"memory_order_(acquire|release|acq_rel|seq_cst)", code):
                yield number, order


def met_orders(program, models, files, jobs):
    """{order: [models that come to it, the quickest first]}; {model: seconds}"""
    orders, seconds = {}, {}

    def collect(model):
        start = time.monotonic()
        passed, text = run_model(program, model, ROUSE_MODEL_ORDERS="1")
        if not passed:
            sys.exit(f"{model} fails as it is:\n{text}")
        return model, time.monotonic() - start, re.findall(r"^order (.*)$", text, re.M)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for model, took, names in pool.map(collect, models):
            seconds[model] = took
            for name in names:
                if file_of(name, files):
                    orders.setdefault(name, []).append(model)
    for users in orders.values():
        users.sort(key=seconds.get)
    return orders, seconds


def killer(program, order, models):
    """The first model that fails without the order; none: None."""
    for model in models:
        if not run_model(program, model, ROUSE_MODEL_LEAVE_OUT=order)[0]:
            return model
    return None


def unmet_orders(files, orders):
    """Those in the text of a file at which no model was. A call may begin lines before its order."""
    for path in files:
        lines = {int(order.split(":")[1]) for order in orders if file_of(order, files) == path}
        for number, order in orders_in_text(path):
            if not any(line in lines for line in range(number - 3, number + 1)):
                yield f"{path}:{number}: {order}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("program")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--filter", default="*Model.*")
    parser.add_argument("-j", type=int, default=1)
    arguments = parser.parse_args()
    files, program = arguments.files, arguments.program

    models = list(list_models(program, arguments.filter))
    orders, _ = met_orders(program, models, files, arguments.j)
    print(f"{len(orders)} orders, {len(models)} models", flush=True)

    survivors = list(unmet_orders(files, orders))
    for survivor in survivors:
        print(f"NO MODEL  {survivor}", flush=True)
    def try_one(order):
        return order, killer(program, order, orders[order])

    def by_place(order):
        file, line, column, part = order.rsplit(":", 3)
        return file, int(line), int(column), part

    with concurrent.futures.ThreadPoolExecutor(arguments.j) as pool:
        for order, model in pool.map(try_one, sorted(orders, key=by_place)):
            _, line, _, part = order.rsplit(":", 3)
            text = f"{file_of(order, files)}:{line}: {part}"
            if model is None:
                survivors.append(text)
                print(f"SURVIVED  {text}", flush=True)
            else:
                print(f"found     {text}: {model}", flush=True)

    everything = len(orders) + sum(1 for _ in unmet_orders(files, orders))
    if survivors:
        print("write a model that fails without it, or show that the order is not needed and relax it")
    print(f"score: {everything - len(survivors)} of {everything} orders are missed if left out")
    sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    main()
