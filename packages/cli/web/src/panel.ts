import { h, render, type VNode } from 'preact'

/** What the script of a panel gets, again with each new value. */
export interface PanelProps<Data> {
  /** The latest value of the panel's data. Undefined before the first. */
  readonly data: Data | undefined
  /** False while the page has no connection to its command. */
  readonly isLive: boolean
  /** Sends a command, and resolves with its result. Rejects with the message of the program if it fails. */
  send(command: object): Promise<unknown>
  /** Shows the form of a tool, filled with these arguments. */
  fill(tool: string, args: object): void
}

/** The custom element of a panel. */
export const panelElement = (name: string): string => `dev-panel-${name}`

/**
 * Declares the panel of a program that uses `serveDev`, under the name that it has there. The data is of the same program,
 * so its type is not checked.
 */
export function definePanel<Data>(name: string, component: (props: PanelProps<Data>) => VNode): void {
  class PanelElement extends HTMLElement {
    set panel(props: PanelProps<Data>) {
      render(h(component, props), this)
    }
  }
  customElements.define(panelElement(name), PanelElement)
}
