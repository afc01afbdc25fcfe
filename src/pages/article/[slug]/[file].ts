/** Chapters and transcript of a story, where it has them and everyone may read it; podcast apps of subscribers get theirs below /sound. */
import type { APIRoute } from 'astro';
import { answerEpisodeFile, isEpisodeFile } from '../../../lib/sound/documents.ts';

export const GET: APIRoute = ({ locals, params: { slug = '', file = '' } }) =>
  isEpisodeFile(file) ? answerEpisodeFile(locals, slug, file) : new Response(null, { status: 404 });
