import type { Outlet } from './outlet.ts'
import type { HttpRefusal } from './refusal.ts'
import type { RequestView } from './request-view.ts'

/**
 * The functions that read and answer requests on one platform. `Target` is a platform's record of one request; the functions
 * are the same for all of them, because thousands may be open at once.
 */
export interface Platform<Source, Target> extends Outlet<Target> {
  viewOf(target: Target): RequestView<Source>
  /** Reads the body, at most so many bytes; what cannot be read is refused. */
  readText(target: Target, maxBytes: number): Promise<string | HttpRefusal>
}
