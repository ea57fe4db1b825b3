"""How the persister decides, pure: what may be committed, when it pauses, its pace, its states."""
