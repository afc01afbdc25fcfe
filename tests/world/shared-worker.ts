/** A file that shares a worker's process with others (shared-pool.ts) has modules of its own all the same; libraries stay loaded. */
import { vi } from 'vitest';

vi.resetModules();
