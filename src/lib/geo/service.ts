/** Roughly where a reader is (spec section 7, `GET /api/geo`; the subscription metadata takes `geo_city`, `geo_country`). */

/** The answer of `GET /api/geo`, as it goes over the wire. */
export interface Place {
  /** Two capital letters (ISO 3166-1 alpha-2), or `null` when it is not known. */
  readonly country: string | null;
  readonly city: string | null;
}

export interface Geo {
  /**
   * Reads what the CDN in front has found out; asks nobody else.
   *
   * @param address network address of the reader; addresses of private networks have no place
   * @param headers of the request
   */
  locate(address: string, headers: Headers): Place;
}
