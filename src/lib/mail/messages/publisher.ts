/** The newspaper, as its mail presents it. */
export interface Publisher {
  readonly name: string;
  readonly motto: string;
  /** BCP 47. */
  readonly language: string;
  /** In which dates are told. */
  readonly timeZone: string;
  /** Without a slash at its end. */
  readonly siteUrl: string;
  /** Where readers write to. */
  readonly contact: string;
}
