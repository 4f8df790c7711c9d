"""What tests share, by what it helps with; what helps one test module alone stands in that module."""
