-- How often a shared history was replaced by one from which something was taken out. The row of a history that was
-- removed stays, without a commit, so that machines which have it learn of that.
ALTER TABLE trees ADD COLUMN rewrites BIGINT NOT NULL DEFAULT 0;
