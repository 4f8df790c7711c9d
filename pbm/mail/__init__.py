"""Mail: how it comes in and is read, and how it is written and goes out."""
