-- What a model was asked about the scope, and what of its answers was accepted, as JSON; NULL before the first question.
ALTER TABLE scopes ADD COLUMN proposals TEXT COLLATE "C";
