/** Resizes one picture: limits, formats and encoders. Fetching and caching are in `images.server.ts`. */
import sharp, { type Metadata, type Region, type Sharp } from 'sharp';
import { ImageError } from './source.server.ts';

/** Largest original in pixels; a larger one is treated as a decompression bomb. */
const maxPixels = 64_000_000;
/** Largest height of a result in pixels: WebP's limit, and for each format, so that a size of a picture is the same in all of them. */
const maxHeight = 16_383;
/** Most of a picture that is searched for its crop, as a multiple of the crop's height or width; an upright photo needs about three. */
const mostForCrop = 4;

type FileFormat = 'avif' | 'webp' | 'jpeg' | 'png';
/** Format of a result. `original`: PNG for a picture with transparency, JPEG for any other. */
export type Format = Exclude<FileFormat, 'png'> | 'original';

/** Size of a result. `height` is given only for a crop. */
export interface Size {
  readonly width: number;
  readonly height?: number;
  readonly quality: number;
}

const readableFormats = new Set(['jpeg', 'png', 'webp', 'heif', 'gif', 'tiff']);
const isAvif = (meta: Metadata): boolean => meta.format !== 'heif' || meta.compression === 'av1';

/** Opens bytes as a picture of a supported type. SVG isn't supported, because it can run scripts. */
async function open(bytes: Buffer): Promise<{ picture: Sharp; meta: Metadata }> {
  const picture = sharp(bytes, { limitInputPixels: maxPixels, failOn: 'error', animated: false });
  let meta: Metadata;
  try {
    meta = await picture.metadata();
  } catch (error) {
    if (/pixel limit/i.test(String(error))) throw new ImageError(413, 'The original has too many pixels.');
    throw new ImageError(415, "The original isn't a readable picture.", { cause: error });
  }
  if (!readableFormats.has(meta.format ?? '') || !isAvif(meta)) {
    throw new ImageError(415, `The original is ${meta.format ?? 'unknown'}, which is not served here.`);
  }
  if (meta.width * meta.height > maxPixels) throw new ImageError(413, 'The original has too many pixels.');
  return { picture, meta };
}

/**
 * Size in pixels of a picture as it is shown (EXIF orientation applied).
 * @throws ImageError 413 or 415
 */
export async function sizeOf(bytes: Buffer): Promise<{ width: number; height: number }> {
  const { autoOrient } = (await open(bytes)).meta;
  return { width: autoOrient.width, height: autoOrient.height };
}

/**
 * One size of a picture.
 * @throws ImageError 413, 415 or 422
 */
export async function resize(bytes: Buffer, { width, height, quality }: Size, wanted: Format): Promise<Buffer> {
  const { picture, meta } = await open(bytes);
  const format = wanted === 'original' ? (meta.hasAlpha ? 'png' : 'jpeg') : wanted;
  try {
    const upright = picture.rotate();
    const sized = height
      ? upright.extract(partForCrop(meta.autoOrient, width / height)).resize({ width, height, position: 'attention' })
      : upright.resize({ width, height: maxHeight, fit: 'inside', withoutEnlargement: true });
    return await encode(sized, format, quality, width).timeout({ seconds: 20 }).toBuffer();
  } catch (error) {
    if (/pixel limit/i.test(String(error))) throw new ImageError(413, 'The original has too many pixels.');
    throw new ImageError(422, 'The original is damaged.', { cause: error });
  }
}

/** The part of a picture that is searched for its crop: of a very tall or wide one not all, because that would take seconds. */
function partForCrop(picture: Readonly<Record<'width' | 'height', number>>, ratio: number): Region {
  const width = Math.min(picture.width, Math.ceil(mostForCrop * ratio * picture.height));
  const height = Math.min(picture.height, Math.ceil((mostForCrop / ratio) * picture.width));
  // A tall graphic has its title at the top.
  return { left: Math.floor((picture.width - width) / 2), top: 0, width, height };
}

/**
 * AVIF needs a lower number for the same looks. With more effort it is a third smaller but takes five times as long, and readers wait for a
 * first resize: only widths that phones load are worth it. Colors at half the resolution, as in WebP, look the same in photos, and phones
 * decode them in two thirds of the time.
 */
function encode(picture: Sharp, format: FileFormat, quality: number, width: number): Sharp {
  const [share, effort] = width <= 828 ? [0.64, 3] : [0.72, 0];
  if (format === 'avif')
    return picture.avif({ quality: Math.round(quality * share), effort, chromaSubsampling: '4:2:0' });
  if (format === 'webp') return picture.webp({ quality, effort: 3 });
  if (format === 'png') return picture.png({ palette: true, quality });
  return picture.flatten({ background: '#f9f9f5' }).jpeg({ quality, mozjpeg: true });
}

/** Media type of a result. */
export function contentType(wanted: Format, body: Uint8Array): string {
  if (wanted !== 'original') return `image/${wanted}`;
  return body[0] === 0x89 ? 'image/png' : 'image/jpeg';
}
