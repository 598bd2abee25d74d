import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Calls } from '../session/calls.ts'
import { instancesOf, type Outcome, type Run } from '../session/run.ts'
import { showCount, showDuration } from '@x/cli/web/units.ts'
import { isOpenBug, type WorkItem, type WorkItems } from '../session/work-items.ts'
import { Timeline } from './timeline.tsx'

interface RunListProps {
  readonly calls: Calls
  readonly workItems: WorkItems
}

/** Shows the calls of this page. The last one is open. */
export function RunList({ calls, workItems }: RunListProps): VNode {
  const [last, ...earlier] = calls.runs.value
  const bug = workItems.items.value?.find(isOpenBug)
  return (
    <section class="card runs" aria-labelledby="rounds">
      <div class="card-head">
        <h2 id="rounds">Rounds</h2>
      </div>
      {last === undefined ? <Invitation bug={bug} /> : <RunView key={last.id} run={last} isLast />}
      {earlier.length > 0 && <h3 class="earlier">Earlier calls</h3>}
      {earlier.map((run) => (
        <details key={run.id} class="earlier-run">
          <summary>
            <time>{timeOf(run)}</time> <code>{run.tool}</code> <span>{summaryOf(run)}</span>
          </summary>
          <RunView run={run} />
        </details>
      ))}
    </section>
  )
}

function Invitation({ bug }: { readonly bug: WorkItem | undefined }): VNode {
  return (
    <p class="hint">
      Pick {bug === undefined ? 'a bug' : `Bug #${bug.id}`} and set <code>System.State</code> to <code>Resolved</code>.
      The process requires a resolution, so the server asks for one before it changes anything: answer "Duplicate", and
      it asks once more. Here you see which of its instances answered each time.
    </p>
  )
}

function RunView({ run, isLast = false }: { readonly run: Run; readonly isLast?: boolean }): VNode {
  return (
    <div class="run">
      <p class="run-head">
        <code>{run.tool}</code> <code class="arguments">{JSON.stringify(run.args)}</code>
      </p>
      <Timeline run={run} />
      {run.outcome && <OutcomeView outcome={run.outcome} isNew={isLast} />}
      {run.outcome && run.rounds.length > 0 && <p class="hint run-summary">{summaryOf(run)}</p>}
    </div>
  )
}

const headings: Readonly<Record<Outcome['kind'], string>> = {
  done: 'Result',
  rejected: 'Not done',
  failed: 'Failed',
  stopped: 'Stopped',
}

interface OutcomeViewProps {
  readonly outcome: Outcome
  /** `true` for a new run, which is scrolled into view. */
  readonly isNew: boolean
}

function OutcomeView({ outcome: { kind, text, structured }, isNew }: OutcomeViewProps): VNode {
  const view = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isNew) view.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <div ref={view} class={`notice ${kind === 'done' ? 'good' : 'bad'}`} data-outcome={kind}>
      <strong>{headings[kind]}</strong>
      <p>{text}</p>
      {structured !== undefined && (
        <details>
          <summary>As data</summary>
          <pre>{JSON.stringify(structured, undefined, 2)}</pre>
        </details>
      )}
    </div>
  )
}

function summaryOf(run: Run): string {
  const questions = run.rounds.reduce((sum, { asked }) => sum + asked.length, 0)
  const instances = instancesOf(run).length
  return [
    showCount(run.rounds.length, 'request'),
    ...(questions === 0 ? [] : [showCount(questions, 'question')]),
    ...(instances === 0 ? [] : [showCount(instances, 'instance')]),
    `${showDuration(run.rounds.reduce((sum, { durationMs }) => sum + durationMs, 0))} on the server`,
  ].join(' · ')
}

function timeOf({ startedAt }: Run): string {
  return new Date(startedAt).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' })
}
