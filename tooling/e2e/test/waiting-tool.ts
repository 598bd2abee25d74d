import { type Tool, tool } from '@x/server'
import { createGate, type Gate } from '@tooling/vitest/gate'

/** A tool that waits until it is cancelled, with gates for its start and its end. */
export interface WaitingTool {
  readonly waits: Tool
  /** Opens when the tool starts. */
  readonly started: Gate
  /** Opens with the reason when the tool is cancelled. */
  readonly stopped: Gate<unknown>
}

/** Creates a tool that runs until it is cancelled. Its result arrives too late. */
export function waitingTool(name = 'waits'): WaitingTool {
  const [started, stopped] = [createGate(), createGate<unknown>()]
  const waits = tool(name, {
    description: 'Waits until it is cancelled',
    run: (_, ctx) =>
      new Promise<string>((resolve) => {
        ctx.signal.addEventListener('abort', () => {
          stopped.open(ctx.signal.reason)
          resolve('too late')
        })
        // Some clients notice the start only by progress.
        ctx.progress(1)
        started.open()
      }),
  })
  return { waits, started, stopped }
}
