"""What the overlord asks of workers, over HTTP; composition roots alone import it."""
