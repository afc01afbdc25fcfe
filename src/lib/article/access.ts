import { isWalled } from '../access/article.ts';
import type { Card } from '../content/model.ts';

/** True when nobody may be asked for an account before reading; `default` is public, and only metered. */
export const isFree = (access: Card['access']): boolean => !isWalled(access);

/** Class of the element that holds what is behind a wall, or stands in its place; structured data names it. */
export const walledClass = 'walled';
