/**
 * The state of a headline test, for the editor and for the end of the test (docs/content-api.md, "Headline tests"). The plugin signs the
 * query as it signs a webhook; `id` is the story and `slug` the test.
 */
import { testIdForm } from '../../../../lib/headline-tests/model.ts';
import { newsroomRoute } from '../../../../lib/http/routes.server.ts';

export const POST = newsroomRoute(async ({ type, id, slug }, { headlineTests }) => {
  const named = typeof slug === 'string' && testIdForm.test(slug) && Number.isSafeInteger(id);
  if (type !== 'headline-tests' || !named)
    return { status: 422, body: { ok: false, error: 'The body names no test.' } };
  const report = await headlineTests.report(Number(id), slug);
  if (!report) return { status: 404, body: { ok: false, error: 'The site doesn’t run this test.' } };
  return { status: 200, body: { ok: true, ...report } };
});
