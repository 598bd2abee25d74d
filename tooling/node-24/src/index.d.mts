/** Where the program is. */
export declare const node24: string
