"""The rules: a package for each topic, a module for each subject.

A package lists its rules in the order of the reference page; ``pack`` lists the packages. What several rules need
stands beside ``model``, never in a module with rules: no such module imports another.
"""
