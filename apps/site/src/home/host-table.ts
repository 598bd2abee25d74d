import { escapeHtml } from './html.ts'

/** One host of `docs/hosts.json`. A feature is tried at several places, such as stdio and HTTP. */
export interface TestedHost {
  readonly host: string
  readonly revision: string
  readonly cells: Readonly<Record<string, Readonly<Record<string, { readonly outcome: string }>>>>
}

const columns = [
  ['plain tool', 'tool'],
  ['progress', 'progress'],
  ['question', 'question'],
  ['restart while a form is open', 'restart'],
] as const

/** Draws what works in each host. `caption` is HTML. */
export function drawHostTable(hosts: readonly TestedHost[], caption: string): string {
  const head = ['host', 'revision', ...columns.map(([, text]) => text)].map((text) => `<th scope="col">${text}</th>`)
  const rows = hosts.map((one) => {
    const cells = columns.map(([feature]) => cell(outcomesOf(one, feature)))
    return `<tr><th scope="row">${escapeHtml(one.host)}</th><td>${one.revision}</td>${cells.join('')}</tr>`
  })
  return `<table class="hosts"><caption>${caption}</caption><thead><tr>${head.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table>`
}

function outcomesOf({ host, cells }: TestedHost, feature: string): readonly string[] {
  const outcomes = Object.values(cells).flatMap(({ [feature]: tried }) => tried?.outcome ?? [])
  if (outcomes.length === 0)
    throw new Error(`docs/hosts.json has no "${feature}" of ${host}: name a feature that it has`)
  return outcomes
}

/** Something that works at one of the places works in the host. */
function cell(outcomes: readonly string[]): string {
  if (outcomes.includes('works'))
    return '<td class="works"><span aria-hidden="true">✓</span><span class="read">works</span></td>'
  const [outcome = ''] = outcomes
  return `<td><span aria-hidden="true">–</span><span class="read">${escapeHtml(outcome)}</span></td>`
}
