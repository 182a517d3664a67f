"""Small programs as they are found in public: what the pack says of them was read and judged by hand."""
