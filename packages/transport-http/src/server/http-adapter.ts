import type { ResponseWriter } from './response-writer.ts'
import type { HttpErrorResponse } from './reply.ts'
import type { RequestView } from './request-view.ts'

/**
 * The functions that read and answer requests on one platform. `Target` is a platform's record of one request; the
 * functions are the same for all of them, because thousands may be open at once.
 */
export interface HttpAdapter<Source, Target> extends ResponseWriter<Target> {
  viewOf(target: Target): RequestView<Source>
  /** Reads the body, at most so many bytes; what cannot be read is refused. */
  readText(target: Target, maxBytes: number): Promise<string | HttpErrorResponse>
}
