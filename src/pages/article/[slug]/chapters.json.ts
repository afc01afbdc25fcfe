/** `chapters.json` of a story, where it has one that everyone may read; podcast apps of subscribers get theirs below /sound. */
import type { APIRoute } from 'astro';
import { answerEpisodeFile } from '../../../lib/sound/documents.ts';

export const GET: APIRoute = ({ locals, params }) => answerEpisodeFile(locals, params.slug ?? '', 'chapters.json');
