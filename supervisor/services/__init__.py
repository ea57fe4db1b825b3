"""The services: verbs and queries of people; the API and composition roots import them."""
