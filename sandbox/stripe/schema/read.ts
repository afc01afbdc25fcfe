/** The schema of the API that the pinned SDK speaks. */
import fs from 'node:fs';
import path from 'node:path';
import type { ApiSchema } from './shape.ts';

export const api = JSON.parse(fs.readFileSync(path.join(import.meta.dirname, 'api.json'), 'utf8')) as ApiSchema;
