/** Where Algolia is asked, and by which keys. */
export interface AlgoliaAccess {
  readonly appId: string;
  readonly searchKey: string;
  /** `null`: somebody else fills the index. */
  readonly writeKey: string | null;
  readonly index: string;
  /** `null`: the vendor's own hosts. */
  readonly url: string | null;
}
