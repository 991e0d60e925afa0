* Read the rows of a release into Stata. Dates and times become Stata dates, numbers become numbers; codes with leading zeros stay text.
*
*   do read_release.do FOLDER

args folder
import delimited using "`folder'/synthetic.csv", clear varnames(1) case(preserve) encoding("utf-8") bindquote(strict) stringcols(_all)

foreach name of varlist _all {
    * a column whose cells are all empty or YYYY-MM-DD is a date; with a T and a time behind it, a datetime
    quietly count if `name' != ""
    local filled = r(N)
    quietly count if regexm(`name', "^[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]$")
    if `filled' > 0 & r(N) == `filled' {
        generate double `name'_ = date(`name', "YMD")
        format `name'_ %td
        order `name'_, after(`name')
        drop `name'
        rename `name'_ `name'
        continue
    }
    quietly count if regexm(`name', "^[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T")
    if `filled' > 0 & r(N) == `filled' {
        generate double `name'_ = clock(subinstr(`name', "T", " ", 1), "YMDhms")
        format `name'_ %tc
        order `name'_, after(`name')
        drop `name'
        rename `name'_ `name'
        continue
    }
    quietly count if regexm(`name', "^0[0-9]")
    if r(N) == 0 quietly destring `name', replace
}
