/** Preloaded into a child that does not watch its parent itself: ends it when the parent is gone. */
process.on('disconnect', () => process.exit(1));
