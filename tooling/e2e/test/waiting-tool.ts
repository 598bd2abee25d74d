import { type Tool, tool } from '@x/server'
import { createGate, type Gate } from '@tooling/vitest/gate'

/** A tool that waits until it is cancelled, and what a test knows of it. */
export interface WaitingTool {
  readonly waits: Tool
  /** Opens when the tool runs. */
  readonly started: Gate
  /** Opens with the reason when it was cancelled. */
  readonly stopped: Gate<unknown>
}

/** Makes a tool that runs until it is cancelled, and answers too late. */
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
        // For a client that hears of progress alone.
        ctx.progress(1)
        started.open()
      }),
  })
  return { waits, started, stopped }
}
