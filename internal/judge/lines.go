package judge

import (
	"encoding/json"
	"io"
	"strconv"
)

// tableLine is a row of a table as JSON.
type tableLine struct {
	V         int               `json:"v"`
	Track     string            `json:"track"`
	Measure   string            `json:"measure"`
	Name      string            `json:"name"`
	Strategy  string            `json:"strategy"`
	Mean      number            `json:"mean"`
	Low       *number           `json:"low"` // null for a single run
	High      *number           `json:"high"`
	Units     int               `json:"units"`
	Of        int               `json:"of"`
	Rank      number            `json:"rank,omitempty"`
	Also      map[string]number `json:"also,omitempty"`
	Against   *againstLine      `json:"against,omitempty"`
	Topics    map[string]number `json:"topics"`
	Seeds     map[string]number `json:"seeds"`
	HarvestAt map[int]number    `json:"harvest_at,omitempty"`
	RecallAt  map[int]number    `json:"recall_at,omitempty"`
}

type againstLine struct {
	Reference  string  `json:"reference"`
	Units      int     `json:"units"`
	Difference number  `json:"difference"`
	Low        *number `json:"low"`
	High       *number `json:"high"`
	P          number  `json:"p"`
	Holm       number  `json:"p_holm"`
	A12        number  `json:"a12"`
	Wins       int     `json:"wins"`
	Ties       int     `json:"ties"`
	Losses     int     `json:"losses"`
	Equivalent bool    `json:"equivalent"`
}

// A number is written with six significant digits.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	short, err := strconv.ParseFloat(strconv.FormatFloat(float64(n), 'g', 6, 64), 64)
	if err != nil {
		return nil, err
	}
	return json.Marshal(short)
}

// ends returns the ends of an interval, or nil if i is nil.
func (i *Interval) ends() (low, high *number) {
	if i == nil {
		return nil, nil
	}
	return new(number(i.Low)), new(number(i.High))
}

// put stores a mean if it has units.
func put[K comparable](to map[K]number, key K, m Mean) {
	if m.Units > 0 {
		to[key] = number(m.Value)
	}
}

// WriteNDJSON writes each row of the tables as a line of JSON, the best row first.
func WriteNDJSON(w io.Writer, tables []*Table) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, t := range tables {
		for i := range t.Rows {
			if err := enc.Encode(t.line(&t.Rows[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

// line returns a row as JSON.
func (t *Table) line(row *Row) tableLine {
	line := tableLine{
		V: 1, Track: t.Track, Measure: t.By.Name, Name: row.Name, Strategy: row.Strategy,
		Mean: number(row.Mean), Units: row.Units, Of: t.Units, Rank: number(row.Rank),
		Also: map[string]number{}, Topics: map[string]number{}, Seeds: map[string]number{},
		HarvestAt: map[int]number{}, RecallAt: map[int]number{},
	}
	line.Low, line.High = row.Interval.ends()
	for i, m := range row.Also {
		put(line.Also, t.Also[i].Name, m)
	}
	for i, c := range row.Topics {
		put(line.Topics, t.Topics[i], c.Mean)
	}
	for i, c := range row.Seeds {
		put(line.Seeds, t.Seeds[i], c.Mean)
	}
	for i, cost := range t.Costs {
		put(line.HarvestAt, cost, row.HarvestAt[i])
		put(line.RecallAt, cost, row.RecallAt[i])
	}
	if a := row.Against; a != nil {
		line.Against = &againstLine{
			Reference: t.Reference, Units: a.Units, Difference: number(a.Difference), P: number(a.P), Holm: number(a.Holm),
			A12: number(a.A12), Wins: a.Wins, Ties: a.Ties, Losses: a.Losses, Equivalent: a.Equivalent,
		}
		line.Against.Low, line.Against.High = a.Interval.ends()
	}
	return line
}
