"""Pure rules that turn a record into a row; both planes import them."""
