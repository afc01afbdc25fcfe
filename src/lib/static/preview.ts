/** What an editor reads when a preview cannot be shown. */
export interface PreviewTrouble {
  readonly heading: string;
  readonly advice: string;
}

/**
 * Words for the status of a preview.
 *
 * @param status as `Content.preview` answers it (src/content/service.ts)
 */
export function previewTrouble(status: number): PreviewTrouble {
  switch (status) {
    case 400:
      return {
        heading: 'This is no preview link',
        advice: 'Part of the address is missing. Press Preview in WordPress again.',
      };
    case 401:
    case 403:
      return {
        heading: 'This preview link is not signed by the newsroom',
        advice:
          'Press Preview in WordPress again. If that leads here too, compare the secret in the newsroom’s settings with the site’s.',
      };
    case 404:
      return { heading: 'There is no such draft', advice: 'It may have been deleted in WordPress.' };
    case 410:
      return {
        heading: 'This preview has expired',
        advice: 'A preview link works for a few minutes. Press Preview in WordPress again.',
      };
    case 501:
      return {
        heading: 'Previews are off',
        advice:
          'The site has no password for WordPress. Set WORDPRESS_USER, WORDPRESS_APP_PASSWORD and NEWSROOM_SECRET.',
      };
    default:
      return { heading: 'WordPress did not answer', advice: 'Wait a moment and load this page again.' };
  }
}
