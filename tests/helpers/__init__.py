"""What tests share, by what it helps with: ``from helpers.club import Club``.

Whatever helps one test module alone stands in that module. No test module imports another one.
"""
