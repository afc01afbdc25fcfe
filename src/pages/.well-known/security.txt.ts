/** GET /.well-known/security.txt: where to report a security problem (RFC 9116). Never cached: it expires. */
import type { APIRoute } from 'astro';
import { securityTxt } from '../../lib/feeds/crawler-files.ts';
import { textAnswer } from '../../lib/feeds/write.ts';

export const GET: APIRoute = ({ locals }) => {
  const answer = textAnswer(securityTxt(locals.config.siteUrl, Date.now()), 'text/plain');
  answer.headers.set('Cache-Control', 'public, max-age=86400');
  return answer;
};
