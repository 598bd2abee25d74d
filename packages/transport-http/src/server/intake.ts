import type { Outlet } from './outlet.ts'
import type { HttpRefusal } from './refusal.ts'
import type { RequestView } from './request-view.ts'

/** A request that came in: what it says, where its answer goes, and how its body is read. */
export interface Intake<Source> {
  readonly view: RequestView<Source>
  readonly outlet: Outlet
  /** Reads the body, at most so many bytes; what cannot be read is refused. */
  readText(maxBytes: number): Promise<string | HttpRefusal>
}
