#!/bin/bash
# Runs the tests of capture_hf.py that do without torch and transformers.
exec python3 zyfa/models/capture_hf_test.py
