/**
 * An HTTP request as the steps read it, whatever platform it came from.
 *
 * `Source` is the platform's own request: `Request` under `httpHandler`, `IncomingMessage` under `nodeHandler`.
 */
export interface RequestView<Source = unknown> {
  /** The verb, in upper case. */
  readonly method: string
  /** The target as it came: an absolute URL, or path and query. */
  readonly url: string
  /** The platform's own request, for what this view does not show, such as a user that middleware put there. */
  readonly source: Source
  /** A header's value by its lower-case name; values of a repeated header are joined by a comma. */
  header(name: string): string | undefined
  /**
   * The values of a header by its lower-case name, in the order in which they came. On Node one for each time that it
   * was sent, with those that `header` leaves out, such as a second `Authorization`; elsewhere all of them joined in
   * one.
   */
  headerValues(name: string): readonly string[]
  /** Visits every header by its lower-case name. */
  forEachHeader(visit: (value: string, name: string) => void): void
}
