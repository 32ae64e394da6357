import { FormData } from 'undici'

class Fields extends FormData {
  static of(fields: Record<string, string>): Fields {
    const form = new Fields()
    for (const [name, value] of Object.entries(fields)) form.append(name, value)
    return form
  }
}
export const form: FormData = Fields.of({ a: 'b' })
