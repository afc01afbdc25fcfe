/** What routes may call besides reading content: built once by `compose.ts`, handed out as `Astro.locals.services`. */
import type { Content } from '../content/content.server.ts';
import type { Logger } from '../lib/logging.ts';

export interface Services {
  /** Sync with WordPress: webhooks (`receive`), previews (`preview`), state (`status`). */
  readonly content: Content;
  readonly images: ImageService;
  readonly log: Logger;
  /** Which features are on, and what would turn on those that are off. */
  readonly features: Features;
}

/** The image path of spec section 7; see src/lib/images. */
export interface ImageService {
  /**
   * Answers `/image?url=…&width=…&quality=…`.
   *
   * @param accept the request's `Accept` header
   */
  handle(params: URLSearchParams, accept: string | null): Promise<ImageAnswer>;
  /** Pixels of an original; `null` when it cannot be had or is no picture. */
  measure(url: string): Promise<{ readonly width: number; readonly height: number } | null>;
  close(): Promise<void> | void;
}

export interface ImageAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer> | string | null;
}

export type FeatureName = 'content' | 'restricted' | 'webhooks' | 'preview' | 'comments';

export interface FeatureState {
  readonly on: boolean;
  /** What to set in order to turn it on; only where it is off. */
  readonly why?: string;
}

export type Features = Readonly<Record<FeatureName, FeatureState>>;
