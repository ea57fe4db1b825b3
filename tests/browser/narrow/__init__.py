"""Tests of pages in windows of any width."""
