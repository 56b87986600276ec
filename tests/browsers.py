"""A real browser for tests, without a window."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest


def headless_browser() -> Iterator[Any]:
    """Yield a browser, and close it; skip where there is none."""
    program, server = shutil.which("chromium"), shutil.which("chromedriver")
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ModuleNotFoundError:
        program = None
    if program is None or server is None:
        if os.environ.get("CI") == "true":
            pytest.fail("chromium, chromium-driver and selenium are needed")
        pytest.skip("needs chromium, chromium-driver and selenium")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(server))
    yield driver
    driver.quit()
