import { once } from 'node:events'
import pc from 'picocolors'
import { serveDev } from '@x/cli/dev'
import { formatMs } from './board/format-ms.ts'
import type { Options } from './options.ts'
import { fleetPanel } from './control/fleet-panel.ts'
import type { LiveView } from './terminal/live-lines.ts'
import { openStage } from './trial/open-stage.ts'
import { runTrial, type Trial } from './trial/run-trial.ts'

/** The parts of the process that a run uses. */
export interface RunContext {
  /** Ends the run. */
  readonly stop: AbortController
  /** Shows the state of the run. */
  readonly view: LiveView
}

/** The duration of the overload with `--once`, in milliseconds. */
const overloadedMs = 8_000

/** Runs the application until a signal stops it or, with `--once`, runs one trial. Resolves to the exit code. */
export async function run(options: Options, context: RunContext): Promise<number> {
  try {
    return options.once ? await runOnce(options, context) : await serveUntilStopped(options, context)
  } catch (error) {
    const { signal } = context.stop
    // A stop by the user is a success, and aborts with a DOMException. A failure aborts with its error.
    if (signal.aborted && signal.reason instanceof DOMException) return 0
    throw signal.aborted ? signal.reason : error
  }
}

async function serveUntilStopped(options: Options, { stop, view }: RunContext): Promise<number> {
  const { balancer, instances: size, mcpPort: port, sheds } = options
  const stage = await openStage({ balancer, size, port, sheds, onFailure: (error) => stop.abort(error) })
  let closePage = async (): Promise<void> => {}
  try {
    const page = await serveDev({
      target: stage.fleet.url,
      panels: [fleetPanel(stage)],
      port: options.port,
      // Hosts connect to the fleet itself.
      hosts: false,
    })
    closePage = page.close
    view.print(
      `\n${pc.bold('Load shedding over MCP')}\n${size} instances share ${stage.fleet.url} behind ${balancer}.\n` +
        `Control page: ${pc.bold(page.pageUrl)}\nCtrl-C stops the application.\n`,
    )
    stage.setLevel('steady')
    view.watch(stage.snapshot)
    if (!stop.signal.aborted) await once(stop.signal, 'abort')
    throw stop.signal.reason
  } finally {
    view.stop()
    await closePage()
    await stage.stop()
  }
}

async function runOnce(options: Options, { stop, view }: RunContext): Promise<number> {
  const { balancer, instances: size, sheds } = options
  try {
    view.print(`${size} instances behind ${balancer}, shedding ${sheds ? 'on' : 'off'}`)
    const trial = await runTrial({
      balancer,
      size,
      sheds,
      overloadedMs,
      port: 0,
      signal: stop.signal,
      onPhase(phase, stage) {
        view.print(pc.bold(phase))
        view.watch(stage.snapshot)
      },
    })
    view.print(formatTrial(trial))
    return hasPassed(trial) ? 0 : 1
  } finally {
    view.stop()
  }
}

function hasPassed({ completed, lost, wrong, repeated, moved, sheds }: Trial): boolean {
  return completed > 0 && lost === 0 && wrong === 0 && repeated === 0 && (moved > 0 || !sheds)
}

function formatTrial(trial: Trial): string {
  const { completed, lost, lostInRestarts, wrong, moved, chunks, repeated, p50Ms, p99Ms } = trial
  return [
    `${completed} calls completed, ${wrong} with a wrong result, ${moved} ${moved === 1 ? 'hand-off' : 'hand-offs'}`,
    `${lost} calls lost, ${lostInRestarts} of them in restarts`,
    `${repeated} of ${chunks} chunks of work repeated`,
    `latency of calls sent during the overload: p50 ${formatMs(p50Ms)}, p99 ${formatMs(p99Ms)}`,
    hasPassed(trial)
      ? pc.green('Passed: no call was lost, and no work was repeated.')
      : pc.red('Failed: see the counts above.'),
  ].join('\n')
}
