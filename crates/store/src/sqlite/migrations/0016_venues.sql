-- The room, the thread of the room and the team that hold a session, and the scope that its caller named for what is
-- learned from it; NULL where none was named.
ALTER TABLE sessions ADD COLUMN room_id TEXT;
ALTER TABLE sessions ADD COLUMN thread_id TEXT;
ALTER TABLE sessions ADD COLUMN team TEXT;
ALTER TABLE sessions ADD COLUMN filed_in TEXT;
