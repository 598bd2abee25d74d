import { definePanel, type PanelProps } from '@x/cli/web/panel.ts'

/** A work item, as the program lists it. */
interface PanelItem {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly state: string
}

definePanel('work-items', ({ data = [], fill }: PanelProps<readonly PanelItem[]>) => (
  <ul class="work-items">
    {data.map(({ id, type, title, state }) => (
      <li key={id}>
        <span class="work-item">
          <strong>#{id}</strong> {type}, {state}: {title}
        </span>
        <button type="button" class="quiet" onClick={() => fill('get_work_item', { workItemId: id })}>
          Read
        </button>
        <button
          type="button"
          class="quiet"
          onClick={() => fill('update_work_item', { workItemId: id, fields: { 'System.State': 'Resolved' } })}
        >
          Resolve
        </button>
      </li>
    ))}
  </ul>
))
