/** The package: everything in `surface.ts` by name, and together as the default export. */
export * from './surface.ts'
export { ventuno as default } from './ventuno.ts'
